import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectLocation } from '../../../manifests/api/object-template.ts';
import { connectEtcd } from '../../clients/etcd.ts';
import { EtcdError, type EtcdTls } from '../../etcd.ts';
import { createAuthority, issueLeaf } from '../../x509/issue.ts';
import { compareRestored, type Proof } from './compare.ts';
import { BackupFailure } from './failure.ts';
import type { Fetched, FetchRequest, FetchTools } from './fetch.ts';
import { restoreSnapshot } from './restore.ts';
import { run } from './run-program.ts';
import { freePorts, startScratchEtcd } from './scratch-etcd.ts';

export interface DrillRequest extends Omit<FetchRequest, 'file'> {
  readonly location: ObjectLocation;
  /** A directory that is ours alone: emptied before and after. It needs room for the snapshot twice. */
  readonly scratch: string;
  /** The programs, of the version that took the snapshot. */
  readonly etcd: string;
  readonly etcdutl: string;
}

/**
 * Restores a backup as a person would, starts etcd on it, and compares. Whatever comes of it, nothing stays behind but
 * the answer.
 *
 * @throws {BackupFailure}
 */
export async function drill(request: DrillRequest, tools: FetchTools & { readonly now: () => Date }): Promise<Proof> {
  const { scratch, etcdutl, etcd } = request;
  const { signal } = tools;
  await rm(scratch, { recursive: true, force: true });
  try {
    const [clientPort, peerPort] = await freePorts();
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
    const { files, own } = await certificates(join(scratch, 'tls'), tools.now());
    const client = connectEtcd({ tls: own, callTimeoutMs: 5_000 });
    try {
      await using running = await startScratchEtcd({
        etcd,
        name,
        dataDirectory,
        clientPort,
        peerUrl,
        tls: files,
        signal,
        ready: (endpoint) => serves(client, endpoint, signal),
      });
      return await compareRestored(client, running.endpoint, record, signal);
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

async function serves(client: ReturnType<typeof connectEtcd>, endpoint: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.members([endpoint], { signal });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EtcdError) return false;
    throw error;
  }
}

/**
 * Ours for the drill alone. With authentication in the snapshot, etcd answers only its users: a client certificate's
 * common name is one, and `root` there always is.
 */
async function certificates(
  directory: string,
  now: Date,
): Promise<{ files: Record<'ca' | 'cert' | 'key', string>; own: EtcdTls }> {
  const times = { notBefore: new Date(now.getTime() - 3600_000), notAfter: new Date(now.getTime() + 24 * 3600_000) };
  const authority = await createAuthority({ commonName: 'drill', ...times });
  const plan = {
    authority: 'client',
    secretName: 'drill',
    dnsNames: ['drill.local'],
    ipAddresses: ['127.0.0.1'],
  } as const;
  const server = await issueLeaf(
    { ...plan, purpose: 'server', commonName: 'drill', usages: ['serverAuth', 'clientAuth'] },
    authority,
    times,
  );
  const root = await issueLeaf(
    { ...plan, purpose: 'reconciler', commonName: 'root', usages: ['clientAuth'] },
    authority,
    times,
  );
  await mkdir(directory, { recursive: true });
  const files = { ca: join(directory, 'ca.crt'), cert: join(directory, 'tls.crt'), key: join(directory, 'tls.key') };
  await writeFile(files.ca, authority.certificate);
  await writeFile(files.cert, server.certificate);
  await writeFile(files.key, server.key, { mode: 0o600 });
  return {
    files,
    own: { ca: authority.certificate, cert: root.certificate, key: root.key, serverName: () => 'drill.local' },
  };
}
