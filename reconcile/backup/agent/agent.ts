import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectEtcd } from '../../clients/etcd.ts';
import { connectSnapshots } from '../../clients/etcd-snapshot.ts';
import { EtcdError, type EtcdTls } from '../../etcd.ts';
import type { Proof } from './compare.ts';
import { drill } from './drill.ts';
import { BackupFailure, exitCodeOf, exitCodes, type FailureReason, failures } from './failure.ts';
import { fetchSnapshot } from './fetch.ts';
import { ignoreMissing } from './files.ts';
import { openStore } from './open-store.ts';
import { type Pruned, prune } from './prune.ts';
import type { BackupRecord } from './record.ts';
import { type AgentRequest, type BackupAsked, type ObjectRequest, parseRequest } from './request.ts';
import { restoreSnapshot } from './restore.ts';
import { placeStaged, type StagedRestore, stageSnapshot } from './stage.ts';
import type { Store } from './store.ts';
import { takeBackup } from './take.ts';
import type { SoundSnapshot } from './trailer.ts';

/** What the agent says at its end, as one JSON document. */
export interface AgentResult {
  readonly ok: boolean;
  readonly operation?: AgentRequest['operation'];
  /** Of the backup that was taken, or that was read. Also where what came after it failed: the backup is there. */
  readonly record?: BackupRecord;
  /** That it was restored and compared. */
  readonly proof?: Proof & { readonly tookMs: number };
  readonly snapshot?: SoundSnapshot;
  /** Also where it failed: what went until then. */
  readonly pruned?: Pruned;
  /** Only where it is not ok. */
  readonly reason?: FailureReason;
  readonly message?: string;
  /** Whether the same request may succeed later. */
  readonly retry?: boolean;
}

export interface AgentContext {
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** One line for a log. */
  readonly note: (text: string) => void;
}

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
    const signal = AbortSignal.any([context.signal, deadline.signal]);
    if (request.operation === 'place') noted(await placed(request));
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

async function withStore(
  request: ObjectRequest,
  context: AgentContext,
  noted: (more: Partial<AgentResult>) => void,
): Promise<void> {
  const store = await openStore(request.location, request.store);
  try {
    await carryOut(request, store, context, noted);
  } finally {
    store.close();
  }
}

async function placed(request: StagedRestore): Promise<Partial<AgentResult>> {
  return (await placeStaged(request)) ?? {};
}

/** A termination message holds 4,096 bytes, and the record is in it as well. Characters. */
const longestMessage = 1_500;

async function carryOut(
  request: ObjectRequest,
  store: Store,
  context: AgentContext,
  noted: (more: Partial<AgentResult>) => void,
): Promise<void> {
  const tools = { store, signal: context.signal, now: context.now };
  if (request.operation === 'prune') return prune(request, tools, (pruned) => noted({ pruned }));
  const identities = request.identityFile === undefined ? undefined : await readKeys(request.identityFile);
  const from = { location: request.location, ...(identities && { identities }) };
  switch (request.operation) {
    case 'backup': {
      const record = await backUp(request, store, context);
      noted({ record });
      context.note(`${record.object}: ${record.bytes} bytes of revision ${record.revision} in ${record.tookMs} ms`);
      if (request.verify !== undefined) {
        const { directory: scratch, etcd, etcdutl } = request.verify;
        noted({ proof: await timed(drill({ ...from, scratch, etcd, etcdutl }, tools)) });
      }
      return;
    }
    case 'verify': {
      const { directory: scratch, etcd, etcdutl } = request.scratch;
      noted({ proof: await timed(drill({ ...from, scratch, etcd, etcdutl }, tools)) });
      return;
    }
    case 'fetch': {
      const { snapshot, record } = await fetchSnapshot({ ...request, ...from }, tools);
      noted({ snapshot, ...(record && { record }) });
      return;
    }
    case 'stage':
      noted(await stageSnapshot({ ...request, ...from }, tools));
      return;
    case 'restore': {
      const { fetched } = await restoreSnapshot({ ...request, ...from }, tools);
      if (fetched) noted({ snapshot: fetched.snapshot, ...(fetched.record && { record: fetched.record }) });
      return;
    }
  }
}

async function timed<T>(work: Promise<T>): Promise<T & { readonly tookMs: number }> {
  const started = performance.now();
  return { ...(await work), tookMs: Math.round(performance.now() - started) };
}

async function backUp(request: BackupAsked, store: Store, { signal, now }: AgentContext): Promise<BackupRecord> {
  const { id, schedule, location, source, compression = 'none', deadlineSeconds, recipientsFile } = request;
  const tls = await readTls(source.tls);
  const recipients = recipientsFile === undefined ? undefined : await readKeys(recipientsFile);
  const options = tls === undefined ? {} : { tls };
  const etcd = connectEtcd({ ...options, callTimeoutMs: 5_000 });
  const snapshots = connectSnapshots(options);
  try {
    const asked = {
      id,
      ...(schedule !== undefined && { schedule }),
      location,
      endpoints: source.endpoints,
      ...(source.clusterId && { clusterId: source.clusterId }),
    };
    return await takeBackup(
      { ...asked, encoding: { compression, ...(recipients && { recipients }) } },
      { etcd, snapshots, store, signal, now, timeoutMs: deadlineSeconds * 1000 },
    );
  } finally {
    snapshots.close();
    etcd.close();
  }
}

/** As age writes them: one a line, with comments. */
async function readKeys(file: string): Promise<readonly string[]> {
  const text = (await readFile(file, 'utf8').catch(ignoreMissing)) ?? '';
  const keys = text.split('\n').map((line) => line.trim());
  const found = keys.filter((line) => line !== '' && !line.startsWith('#'));
  if (found.length > 0) return found;
  throw new BackupFailure('NoKey', `${file} holds no key of age: mount the Secret that does`);
}

async function readTls(tls: BackupAsked['source']['tls']): Promise<EtcdTls | undefined> {
  if (tls === undefined) return undefined;
  const read = async (name: string) => (await readFile(join(tls.directory, name), 'utf8').catch(ignoreMissing)) ?? '';
  const [ca, cert, key] = await Promise.all([read('ca.crt'), read('tls.crt'), read('tls.key')]);
  return { ca, cert, key, serverName: (endpoint) => tls.serverNames?.[endpoint] ?? new URL(endpoint).hostname };
}

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
