import { firstAbort } from '../../../manifests/abort-after.ts';
import { EtcdError } from '../../interfaces/etcd.ts';
import { BackupFailure, exitCodeOf, exitCodes, type FailureReason, failures } from '../../jobs/failure.ts';
import { placed, withStore } from './carry-out.ts';
import { copyOwn, saveOwn } from './new-life.ts';
import { type AgentRequest, parseRequest } from './request.ts';
import type { AgentContext, AgentResult } from './result.ts';
import { stageTrial } from './trial.ts';

/** Never throws: whatever happens is in the result. */
export async function runAgent(
  json: string,
  context: AgentContext,
): Promise<{ result: AgentResult; exitCode: number }> {
  let so: Partial<AgentResult> = {};
  let request: AgentRequest | undefined;
  const noted = (more: Partial<AgentResult>) => {
    so = { ...so, ...more };
  };
  const deadline = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    request = parseRequest(json);
    noted({ operation: request.operation });
    timer = setTimeout(() => deadline.abort(tooLate(request)), request.deadlineSeconds * 1000);
    const signal = firstAbort(context.signal, deadline.signal);
    if (request.operation === 'place') noted(await placed(request, signal));
    else if (request.operation === 'stage-trial') await stageTrial(request, context.now());
    else if (request.operation === 'copy-own') await copyOwn(request, context.now());
    else if (request.operation === 'save-own') noted({ snapshot: await saveOwn(request, signal) });
    else await withStore(request, { ...context, signal }, noted);
    return { result: { ok: true, ...so }, exitCode: exitCodes.done };
  } catch (error) {
    const { reason, message } = failureOf(error, context.signal, deadline.signal);
    const result = {
      ok: false,
      ...so,
      reason,
      message: message.slice(0, longestMessage),
      retry: failures[reason] === 'retry',
    };
    return { result, exitCode: exitCodeOf(reason) };
  } finally {
    clearTimeout(timer);
  }
}

/** A termination message holds 4,096 bytes, and the record is in it as well. Characters. */
const longestMessage = 1_500;

interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
}

function failureOf(error: unknown, stop: AbortSignal, deadline: AbortSignal): Failure {
  if (stop.aborted)
    return { reason: 'Stopped', message: `the agent was stopped (${wordsOf(stop.reason)}): start it again` };
  if (deadline.aborted) return { reason: 'Deadline', message: wordsOf(deadline.reason) };
  if (error instanceof BackupFailure) return error;
  if (error instanceof EtcdError)
    return { reason: error.outcome === 'refused' ? 'EtcdRefused' : 'Unreachable', message: error.message };
  return { reason: 'Unexpected', message: `the agent failed: ${wordsOf(error)}; the log of its pod says where` };
}

function tooLate(request: AgentRequest | undefined): Error {
  const seconds = request?.deadlineSeconds;
  return new Error(
    `${request?.operation} was not done within ${seconds} s: raise the deadline, or look at what is slow`,
  );
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
