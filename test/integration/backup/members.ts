import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Egress } from '../../../manifests/egress/egress.ts';
import { runAgent } from '../../../reconcile/backup/agent/agent.ts';
import type { AgentResult } from '../../../reconcile/backup/agent/result.ts';
import { localEgress } from '../../support/network.ts';
import { post } from '../clients/etcd-members.ts';

export interface Place extends AsyncDisposable {
  readonly path: string;
}

export async function temporary(): Promise<Place> {
  const path = await mkdtemp(join(tmpdir(), 'ratchet-backup-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The agent as its Job runs it, but in this process. */
export async function agent(
  request: Readonly<Record<string, unknown>>,
  signal: AbortSignal = AbortSignal.timeout(60_000),
  egress: Egress = localEgress,
): Promise<AgentResult & { readonly exitCode: number }> {
  const { result, exitCode } = await runAgent(JSON.stringify({ deadlineSeconds: 60, ...request }), {
    signal,
    now: () => new Date(),
    note: () => undefined,
    egress,
  });
  return { ...result, exitCode };
}

const base64 = (value: string | Buffer) => Buffer.from(value).toString('base64');

/** Through etcd's JSON gateway: what is tested here must not be its own witness. Gives the revision. */
export async function put(clientUrl: string, key: string, value: string | Buffer, timeoutMs?: number): Promise<number> {
  const asked = { key: base64(key), value: base64(value) };
  const { header } = (await post(clientUrl, '/v3/kv/put', asked, timeoutMs)) as { header: { revision: string } };
  return Number(header.revision);
}

/** For data that a test or a measurement begins with: on a busy disk, gigabytes of them are late. */
const fillTimeoutMs = 60_000;

/** So many keys of so many bytes each that nothing compresses. */
export async function fill(clientUrl: string, count: number, bytes: number): Promise<void> {
  for (let at = 0; at < count; at += 16) {
    const some = Array.from({ length: Math.min(16, count - at) }, (_, index) => at + index);
    await Promise.all(some.map((number) => put(clientUrl, `fill/${number}`, randomBytes(bytes), fillTimeoutMs)));
  }
}

export function compact(clientUrl: string, revision: number): Promise<unknown> {
  return post(clientUrl, '/v3/kv/compaction', { revision: String(revision), physical: true });
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
