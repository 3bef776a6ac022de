/** Two rollbacks of a busy cluster, as the Job of a restore makes them: real etcd and etcdutl of each minor. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { SnapshotSource } from '../../../manifests/api/backup-settings.ts';
import { dataDirectory } from '../../../manifests/render/etcd-args.ts';
import { restoreContainers, restoreJob } from '../../../manifests/render/restore-job.ts';
import { revisionsAhead } from '../../../manifests/render/revisions.ts';
import { wantedOf } from '../../../reconcile/cluster/know/backups/restore.ts';
import { beginningOf } from '../../../reconcile/cluster/know/backups/revisions.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { healthy } from '../../unit/cluster/observations.ts';
import { peer } from '../../unit/manifests/api-documents.ts';
import { post, startMembers } from '../clients/etcd-members.ts';
import { agent, compact, put, temporary } from './members.ts';

const { etcd: etcds, etcdutl: etcdutls } = await provisionBinaries();
const object = 'pvc://backups/a.db';

for (const version of ['3.5.35', '3.6.16', '3.7.3'] as const) {
  test(`etcd ${version}: after each of two rollbacks a watch that resumes is told compacted`, async () => {
    await using at = await temporary();
    const life: Life = { version, store: join(at.path, 'store'), path: at.path };
    await mkdir(life.store);
    const first = await begun(life, removed);
    const second = await rolledBack(life, 1, { saw: first.saw, revision: first.snapshot });
    assert.ok(second.began > first.saw + revisionsAhead / 2, `it begins at ${second.began}`);
    // Without a quorum its revision is unknown: then it counts as the one with which it began.
    const third = await rolledBack(life, 2, { saw: second.saw, floor: second.began });
    assert.ok(third.began > second.saw + revisionsAhead / 2, `it begins at ${third.began}`);
    const last = await rolledBack(life, 3, { saw: 2 ** 53 - 2 * revisionsAhead - 100 });
    assert.ok(last.saw < Number.MAX_SAFE_INTEGER);
  });
}

test('a snapshot after which revisions would not stay below 2^53 is refused', async () => {
  await using at = await temporary();
  const life: Life = { version: '3.6.16', store: join(at.path, 'store'), path: at.path };
  await mkdir(life.store);
  await mkdir(join(at.path, 'volume-1'));
  const { snapshot } = await begun(life);
  assert.ok(snapshot > 1);
  const bump = Number.MAX_SAFE_INTEGER - revisionsAhead - snapshot;
  const { reason, exitCode, message } = await staged(life, 1, { bump: bump + 1 });
  assert.deepEqual({ reason, exitCode }, { reason: 'RevisionTooHigh', exitCode: 3 });
  assert.match(message ?? '', new RegExp(`^the snapshot ends with revision ${snapshot}, `));
  assert.equal((await staged(life, 1, { bump })).message, undefined);
});

interface Life {
  readonly version: keyof typeof etcds;
  readonly store: string;
  readonly path: string;
}

function staged(
  { version, store, path }: Life,
  attempt: number,
  more: { readonly bump: number; readonly revision?: number; readonly object?: string },
) {
  return agent({
    ...{ operation: 'stage', object, store: { directory: store }, version },
    ...{ dataDirectory: join(path, `volume-${attempt}`, 'data'), restorer: { id: 'token', attempt } },
    ...more,
  });
}

/** A cluster of which a backup is taken, and that goes on. */
async function begun(
  { version, store }: Life,
  last: (clientUrl: string, revision: number) => Promise<number> = async (_, revision) => revision,
): Promise<{ readonly snapshot: number; readonly saw: number }> {
  await using cluster = await startMembers(etcds[version], 1);
  const [member] = cluster.members;
  assert.ok(member);
  const snapshot = await last(member.clientUrl, await written(member.clientUrl, 20));
  const source = { endpoints: [member.clientUrl] };
  const taken = await agent({ operation: 'backup', id: 'a', object, store: { directory: store }, source });
  assert.equal(taken.message, undefined);
  return { snapshot, saw: await written(member.clientUrl, 40) };
}

/** Also a backup of a store that was restored, and that nothing was written to since, is one to go back to. */
async function assertRestorable(life: Life, clientUrl: string, revision: number): Promise<void> {
  const [idle, attempt] = ['pvc://backups/idle.db', 99];
  const source = { endpoints: [clientUrl] };
  const store = { directory: life.store };
  const taken = await agent({ operation: 'backup', id: 'idle', object: idle, store, source });
  assert.equal(taken.message, undefined);
  await mkdir(join(life.path, `volume-${attempt}`));
  const { message } = await staged(life, attempt, { object: idle, revision, bump: revisionsAhead });
  assert.equal(message, undefined);
}

/** The last write is a deletion, and compacted: patches before 3.5.19 keep no key of its revision then. */
async function removed(clientUrl: string): Promise<number> {
  const asked = { key: Buffer.from('key1').toString('base64') };
  const { header } = await post(clientUrl, '/v3/kv/deleterange', asked);
  const revision = Number((header as { readonly revision: string }).revision);
  await compact(clientUrl, revision);
  return revision;
}

async function written(clientUrl: string, count: number): Promise<number> {
  let revision = 0;
  for (let left = count; left > 0; left -= 1) revision = await put(clientUrl, `key${left % 5}`, 'value');
  return revision;
}

interface Seen {
  /** The highest revision of the life before. */
  readonly saw: number;
  /** With which the one before began, where nothing else is known of it. */
  readonly floor?: number;
  /** Of the snapshot, where it is known. */
  readonly revision?: number;
}

/** What the Job is told, staged and restored; then an etcd serves it, and clients of the life before come back. */
async function rolledBack(
  life: Life,
  attempt: number,
  seen: Seen,
): Promise<{ readonly began: number; readonly saw: number }> {
  const { version, path } = life;
  const snapshot: SnapshotSource = { object, ...(seen.revision !== undefined && { revision: seen.revision }) };
  const { bump } = beginningOf(wantedOf(snapshot, 'spec.rollback.snapshot'), true, lastSeen(seen));
  const mount = join(path, `volume-${attempt}`);
  await mkdir(mount);
  const asked = seen.revision === undefined ? { bump } : { bump, revision: seen.revision };
  assert.equal((await staged(life, attempt, asked)).message, undefined);
  const args = argumentsOf(version, { snapshot, attempt, bump });
  await promisify(execFile)(
    etcdutls[version],
    args.map((arg) => arg.replaceAll(dirname(dataDirectory), mount)),
  );
  await using cluster = await startMembers(etcds[version], 1, [
    `--data-dir=${join(mount, `.restoring-${attempt}`, 'data')}`,
  ]);
  const [member] = cluster.members;
  assert.ok(member);
  const answer = await watched(member.clientUrl, seen.saw + 1);
  assert.ok(answer.canceled && Number(answer.compact_revision) > seen.saw, JSON.stringify(answer));
  const began = Number(answer.compact_revision);
  if (attempt === 1) await assertRestorable(life, member.clientUrl, began);
  const saw = await written(member.clientUrl, 10);
  assert.equal(saw, began + 10);
  return { began, saw };
}

function lastSeen({ saw, floor }: Seen) {
  const { endpoint, ...slot } = healthy(1).slots[0] ?? assert.fail('no slot');
  assert.ok(endpoint.kind === 'known');
  const { volume } = slot;
  assert.ok(volume?.record.kind === 'valid');
  const record = { ...volume.record.record, ...(floor !== undefined && { revisionFloor: floor }) };
  const known = { ...slot, volume: { ...volume, record: { kind: 'valid', record } } } as const;
  const silent = { kind: 'unknown', cause: 'it does not run' } as const;
  const answers = { kind: 'known', status: { ...endpoint.status, revision: BigInt(saw) } } as const;
  return { ...healthy(1), slots: [{ ...known, endpoint: floor === undefined ? answers : silent }] };
}

function argumentsOf(
  version: string,
  order: { readonly snapshot: SnapshotSource; readonly attempt: number; readonly bump: number },
): readonly string[] {
  const ours = { ...peer, metadata: { ...peer.metadata, uid: 'peer-1' }, spec: { ...peer.spec, version } };
  const { spec } = restoreJob(ours, { image: 'ours', id: 'id', token: 'token', ...order }).spec.template;
  return spec.initContainers?.find(({ name }) => name === restoreContainers.restore)?.args ?? [];
}

interface WatchAnswer {
  readonly canceled?: boolean;
  readonly compact_revision?: string;
}

/** The second answer: the first one only says that the watch was created. */
async function watched(clientUrl: string, revision: number): Promise<WatchAnswer> {
  const key = Buffer.from('key').toString('base64');
  const end = Buffer.from('kez').toString('base64');
  const body = JSON.stringify({ create_request: { key, range_end: end, start_revision: String(revision) } });
  const response = await fetch(`${clientUrl}/v3/watch`, { method: 'POST', body, signal: AbortSignal.timeout(20_000) });
  let text = '';
  for await (const part of response.body ?? []) {
    text += Buffer.from(part).toString();
    const answers = text.split('\n').filter((line) => line.endsWith('}'));
    const [, second] = answers.map((line) => (JSON.parse(line) as { readonly result: WatchAnswer }).result);
    if (second) return second;
  }
  return assert.fail(`the watch ended: ${text}`);
}
