import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { firstAbort } from '../../../manifests/abort-after.ts';
import type { ObjectLocation } from '../../../manifests/api/object-template.ts';
import { connectEtcd } from '../../clients/etcd.ts';
import { connectSnapshots } from '../../clients/etcd-snapshot.ts';
import type { EtcdTls } from '../../interfaces/etcd.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { openStore } from '../stores/open-store.ts';
import type { Store } from '../stores/store.ts';
import { drill } from './drill.ts';
import { type FetchRequest, type FetchTools, fetchSnapshot, requireSame } from './fetch.ts';
import { ignoreMissing } from './files.ts';
import { guardEndpoints } from './guard-etcd.ts';
import { lookForBackup } from './look.ts';
import { keepOwn } from './own-data.ts';
import { prune } from './prune.ts';
import { type BackupRecord, readRecord } from './record.ts';
import type { BackupAsked, ObjectRequest } from './request.ts';
import { restoreSnapshot } from './restore.ts';
import type { AgentContext, AgentResult } from './result.ts';
import { compareStaged, stageDrill } from './staged-drill.ts';
import { placeStaged, type StagedRestore, stageSnapshot } from './staged-restore.ts';
import { takeBackup } from './take.ts';
import { type Trial, tryOut } from './trial.ts';
import { writeVerified } from './verified.ts';

/** One operation of the agent; its notes are reported even if the rest fails. @throws {BackupFailure | EtcdError} */
export async function withStore(
  request: ObjectRequest,
  context: AgentContext,
  noted: (more: Partial<AgentResult>) => void,
): Promise<void> {
  const readOnly = !writing.has(request.operation);
  const store = await openStore(request.location, request.store, context.egress, { readOnly });
  const ending = new AbortController();
  const signal = firstAbort(context.signal, ending.signal);
  const work = carryOut(request, store, { ...context, signal }, noted);
  // After a refusal, the rest of the work goes on under the same guard.
  const closed = work.catch(() => undefined).then(() => store.close());
  try {
    await Promise.race([work, ...(store.refused ? [store.refused] : [])]);
    await closed;
  } catch (error) {
    ending.abort(error);
    throw error;
  }
}

/** Operations that write into the store: a backup, a proof beside it, and what retention deletes. */
const writing: ReadonlySet<ObjectRequest['operation']> = new Set(['backup', 'verify', 'compare', 'prune']);

/** Given a trial, nothing gets its name before a copy was served. */
export async function placed(
  request: StagedRestore & { readonly trial?: Trial; readonly keeps?: string },
  signal: AbortSignal,
): Promise<Partial<AgentResult>> {
  if (request.trial) await tryOut(request, request.trial, signal);
  if (request.keeps !== undefined) await keepOwn(request, request.keeps);
  return (await placeStaged(request)) ?? {};
}

async function carryOut(
  request: ObjectRequest,
  store: Store,
  context: AgentContext,
  noted: (more: Partial<AgentResult>) => void,
): Promise<void> {
  const tools = { store, signal: context.signal, now: context.now };
  if (request.operation === 'prune') return prune(request, tools, (pruned) => noted({ pruned }));
  if (request.operation === 'look') return noted({ record: await lookForBackup(request, tools) });
  const identities = request.identityFile === undefined ? undefined : await readKeys(request.identityFile);
  const from = { location: request.location, ...(identities && { identities }) };
  switch (request.operation) {
    case 'backup': {
      const record = await backUp(request, store, context);
      noted({ record });
      context.note(`${record.object}: ${record.bytes} bytes of revision ${record.revision} in ${record.tookMs} ms`);
      if (request.verify !== undefined) await prove({ ...from, ...request.verify }, tools, noted);
      return;
    }
    case 'verify':
      await prove({ ...from, ...request.scratch }, tools, noted);
      return;
    case 'stage-drill': {
      const { snapshot } = await stageDrill({ ...from, ...notedIn(request), directory: request.directory }, tools);
      noted({ snapshot });
      return;
    }
    case 'compare': {
      const { directory, endpoint, startSeconds, location } = request;
      const record = (await readRecord(store, location.path, tools)) ?? neverRecorded(request.object);
      requireSame(request.object, record.sha256, request.sha256);
      const compared = compareStaged({ directory, endpoint, record, startMs: startSeconds * 1000 }, context.signal);
      const proof = await timed(compared);
      await writeVerified(store, location.path, { record, proof, at: context.now() }, tools);
      noted({ proof });
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

interface Programs {
  readonly location: ObjectLocation;
  readonly identities?: readonly string[];
  readonly directory: string;
  readonly etcd: string;
  readonly etcdutl: string;
}

/** The drill with programs of this machine, and what it has proven beside the object. */
async function prove(
  { directory: scratch, ...asked }: Programs,
  tools: FetchTools & Pick<AgentContext, 'now'>,
  noted: (more: Partial<AgentResult>) => void,
): Promise<void> {
  const { record, tookMs, proof } = await timed(drill({ ...asked, scratch }, tools));
  if (record) await writeVerified(tools.store, asked.location.path, { record, proof, at: tools.now() }, tools);
  noted({ proof: { ...proof, tookMs } });
}

function notedIn({ sha256 }: Pick<FetchRequest, 'sha256'>): Pick<FetchRequest, 'sha256'> {
  return sha256 === undefined ? {} : { sha256 };
}

function neverRecorded(object: string): never {
  throw new BackupFailure('NotFound', `${object} has no record beside it, so nothing is known to compare it with`);
}

async function timed<T>(work: Promise<T>): Promise<T & { readonly tookMs: number }> {
  const started = performance.now();
  return { ...(await work), tookMs: Math.round(performance.now() - started) };
}

async function backUp(
  request: BackupAsked,
  store: Store,
  { signal, now, egress }: AgentContext,
): Promise<BackupRecord> {
  const { id, schedule, askedAt, location, source, compression = 'none', deadlineSeconds, recipientsFile } = request;
  using guard = source.outside ? guardEndpoints(source.endpoints, egress) : undefined;
  const tls = await readTls(source.tls);
  const recipients = recipientsFile === undefined ? undefined : await readKeys(recipientsFile);
  const options = { ...(tls && { tls }), ...(guard && { within: guard.within }) };
  const etcd = connectEtcd({ ...options, callTimeoutMs: 5_000 });
  const snapshots = connectSnapshots(options);
  try {
    const asked = {
      id,
      ...(schedule !== undefined && { schedule }),
      ...(askedAt !== undefined && { askedAt }),
      location,
      endpoints: source.endpoints,
      ...(source.clusterId && { clusterId: source.clusterId }),
    };
    return await takeBackup(
      { ...asked, encoding: { compression, ...(recipients && { recipients }) } },
      {
        ...{ etcd, snapshots, store, now, timeoutMs: deadlineSeconds * 1000 },
        signal: guard ? firstAbort(signal, guard.refused) : signal,
      },
    );
  } catch (error) {
    // What else became of it follows from that.
    guard?.refused.throwIfAborted();
    throw error;
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
