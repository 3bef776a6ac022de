import { abortAfter } from '../../manifests/abort-after.ts';
import { ForgeError, type ForgeReason } from '../forges/error.ts';
import type { CommitStatus, Forge } from '../forges/forge.ts';
import { describe } from './describe.ts';
import { isSent, type SentStatus } from './sent.ts';

export interface ReportOptions {
  readonly signal: AbortSignal;
  /** When to have given up, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly now?: () => number;
  /** @throws when the signal aborts */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random?: () => number;
}

export interface Report {
  /** What to remember as sent: one per wanted context that was ever sent. */
  readonly sent: readonly SentStatus[];
  /** The first failure, for a condition. Reconciling goes on regardless. */
  readonly failure?: { readonly reason: ForgeReason; readonly message: string; readonly retryAt?: number | undefined };
}

const maxAttempts = 5;
const firstDelayMs = 500;
const longestDelayMs = 10_000;

/**
 * Sends the statuses that differ from what was sent last, each retried within the time there is. A commit's statuses
 * are limited (1000 per context at GitHub). Never throws because of the forge: a status is only news about the work.
 */
export async function sendChanged(
  forge: Pick<Forge, 'address' | 'post'>,
  wanted: readonly CommitStatus[],
  lastSent: readonly SentStatus[],
  options: ReportOptions,
): Promise<Report> {
  const last = new Map(lastSent.map((status) => [keyOf(status), status]));
  const latest = new Map(
    wanted.map((status) => [keyOf(status), { ...status, description: describe(status.description) }]),
  );
  const sent: SentStatus[] = [];
  let failure: Report['failure'];
  let stopped = false;

  for (const [key, status] of latest) {
    const before = last.get(key);
    if (before && isSent(status, before)) {
      sent.push(before);
      continue;
    }
    const error: ForgeError | undefined = stopped ? undefined : await attempt(forge, status, options);
    if (!stopped && !error) {
      sent.push(status);
      continue;
    }
    if (before) sent.push(error && mayHaveArrived(error) ? { ...before, uncertain: true } : before);
    if (!error) continue;
    failure ??= { reason: error.reason, message: error.message, retryAt: error.retryAt };
    stopped = error.class !== 'status';
  }
  return failure ? { sent, failure } : { sent };
}

/** GitHub compares contexts without regard to case, so two that differ only there would overwrite one another. */
function keyOf({ context }: CommitStatus): string {
  return context.toLowerCase();
}

/** It was sent, and what came back was no refusal. */
function mayHaveArrived(error: ForgeError): boolean {
  return error.class === 'retry' || error.reason === 'BadAnswer';
}

/** Sends one status; the error if that failed for good or for as long as there is time. */
async function attempt(
  forge: Pick<Forge, 'address' | 'post'>,
  status: CommitStatus,
  options: ReportOptions,
): Promise<ForgeError | undefined> {
  const { signal, deadline, now = Date.now, sleep = pause, random = Math.random } = options;
  for (let attempts = 1; ; attempts++) {
    const left = deadline - now();
    if (left <= 0 || signal.aborted) return new ForgeError('Timeout', `no time was left to tell ${forge.address}`);
    try {
      await forge.post(status, { signal: abortAfter(left, signal) });
      return undefined;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (error.class !== 'retry' || attempts === maxAttempts) return error;
      const wait = waitFor(error, attempts, now(), random());
      if (now() + wait >= deadline) return outOfTime(error);
      if (!(await slept(wait, signal, sleep))) return error;
    }
  }
}

/** The forge's own wish, or exponential back-off with full jitter, so that many fleets do not come back at once. */
function waitFor({ retryAt }: ForgeError, attempts: number, now: number, random: number): number {
  if (retryAt !== undefined) return Math.max(retryAt - now, firstDelayMs);
  return Math.min(longestDelayMs, firstDelayMs * 2 ** (attempts - 1)) * (0.5 + random / 2);
}

function outOfTime(error: ForgeError): ForgeError {
  if (error.retryAt === undefined) return error;
  // To the minute, or every pass would word it anew and the condition would change for nothing.
  const until = `${new Date(Math.ceil(error.retryAt / 60_000) * 60_000).toISOString().slice(0, 16)}Z`;
  return new ForgeError(error.reason, `${error.message} until ${until}`, { cause: error, retryAt: error.retryAt });
}

async function slept(ms: number, signal: AbortSignal, sleep: NonNullable<ReportOptions['sleep']>): Promise<boolean> {
  try {
    await sleep(ms, signal);
    return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { setTimeout } = await import('node:timers/promises');
  await setTimeout(ms, undefined, { signal });
}
