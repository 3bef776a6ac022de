import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectLocation } from '../../../manifests/api/object-template.ts';
import { connectEtcd } from '../../clients/etcd.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { compareRestored, type Proof } from './compare.ts';
import type { Fetched, FetchRequest, FetchTools } from './fetch.ts';
import { freePort } from './free-port.ts';
import type { BackupRecord } from './record.ts';
import { restoreSnapshot } from './restore.ts';
import { run } from './run-program.ts';
import { startScratchEtcd } from './scratch-etcd.ts';
import { makeScratchTls, readScratchTls } from './scratch-tls.ts';
import { refusalOf } from './served.ts';

export interface DrillRequest extends Omit<FetchRequest, 'file'> {
  readonly location: ObjectLocation;
  /** A directory that is ours alone: emptied before and after. It needs room for the snapshot twice. */
  readonly scratch: string;
  /** The programs, of the version that took the snapshot. */
  readonly etcd: string;
  readonly etcdutl: string;
}

export interface Drilled {
  readonly proof: Proof;
  readonly record: BackupRecord | undefined;
}

/** Restores a backup as a person would, starts etcd on it, and compares. @throws {BackupFailure} */
export async function drill(request: DrillRequest, tools: FetchTools & { readonly now: () => Date }): Promise<Drilled> {
  const { scratch, etcdutl, etcd } = request;
  const { signal } = tools;
  await rm(scratch, { recursive: true, force: true });
  try {
    const clientPort = await freePort();
    const peerPort = await freePort(undefined, [clientPort]);
    const name = 'drill';
    const peerUrl = `http://127.0.0.1:${peerPort}`;
    const dataDirectory = join(scratch, 'data');
    const restored = await restoreSnapshot(
      {
        ...request,
        id: name,
        file: join(scratch, 'snapshot.db'),
        dataDirectory,
        etcdutl,
        member: { name, peerUrl, token: name },
      },
      tools,
    );
    const { record, file } = restored.fetched ?? neverRestored();
    await notLater(etcdutl, file, record, signal);
    // Room for what etcd writes itself.
    await rm(file);
    const tls = join(scratch, 'tls');
    await makeScratchTls(tls, tools.now());
    const client = connectEtcd({ tls: await readScratchTls(tls), callTimeoutMs: 5_000 });
    try {
      await using running = await startScratchEtcd({
        etcd,
        name,
        dataDirectory,
        clientPort,
        peerUrl,
        tls,
        signal,
        ready: async (endpoint) => (await refusalOf(client, endpoint, signal)) === undefined,
      });
      return { proof: await compareRestored(client, running.endpoint, record, signal), record };
    } finally {
      client.close();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Only the directory before was emptied: nothing can have been there. */
function neverRestored(): never {
  throw new BackupFailure('DataPresent', 'the scratch directory is used by another process: give each Job its own');
}

/** The file itself says its last revision; etcd on it may be later, where a lease ends at once. */
async function notLater(etcdutl: string, file: string, record: Fetched['record'], signal: AbortSignal): Promise<void> {
  if (record === undefined) return;
  const failed = (said: string) =>
    new BackupFailure('NotRestorable', `etcdutl can't read ${record.object}: ${said}; use another backup`);
  const said = await run(etcdutl, ['snapshot', 'status', file, '--write-out=json'], { signal, failed });
  const [, digits] = /"revision":\s*(\d+)/.exec(said) ?? [];
  if (digits === undefined) throw failed('it says no revision');
  if (Number(digits) <= record.revisionAtMost) return;
  throw new BackupFailure(
    'Mismatch',
    `${record.object} holds revision ${digits}, and its member had ${record.revisionAtMost} after it was taken: it is another snapshot; use another backup`,
  );
}
