import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOwnBackups } from '../../../reconcile/backup/agent/own-backups.ts';
import { type Pruned, prune } from '../../../reconcile/backup/agent/prune.ts';
import type { BackupRecord } from '../../../reconcile/backup/agent/record.ts';
import type { PruneAsked } from '../../../reconcile/backup/agent/request.ts';
import type { Store, StoredObject } from '../../../reconcile/backup/stores/store.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';

/** What retention concludes where a store fails, or changes while it is read. */

const prefix = 'orders/';
const location = { scheme: 's3', bucket: 'backups', path: prefix } as const;
const schedule = 'own';

interface Memory extends Store {
  readonly objects: Map<string, string>;
  readonly asked: string[];
}

const nothing = (_: string): void => undefined;

/** @param before what happens before an object is read; @param deleting before one is deleted */
function memory(before = nothing, deleting = nothing): Memory {
  const objects = new Map<string, string>();
  const asked: string[] = [];
  const stored = (name: string, text: string): StoredObject => ({
    name,
    bytes: text.length,
    version: text.length.toString(),
    modifiedAt: new Date(0),
  });
  return {
    objects,
    asked,
    place: 's3://backups',
    put: () => Promise.reject(new Error('retention makes nothing')),
    async *list() {
      for (const [name, text] of [...objects].toSorted()) {
        asked.push(`list ${name}`);
        yield stored(name, text);
      }
    },
    async *read(name) {
      asked.push(`read ${name}`);
      before(name);
      yield Buffer.from(objects.get(name) ?? '');
    },
    async stat(name) {
      asked.push(`stat ${name}`);
      const text = objects.get(name);
      return text === undefined ? undefined : stored(name, text);
    },
    async delete({ name }) {
      asked.push(`delete ${name}`);
      deleting(name);
      objects.delete(name);
    },
    close: () => undefined,
  };
}

/** A backup of that day of June, with its record, and with a proof where it is verified. */
function add({ objects }: Memory, name: string, { day = 1, verified = false, askedAt = '' } = {}): void {
  const object = `s3://backups/${prefix}${name}`;
  const record: BackupRecord = {
    ...{ format: 1, id: name, object, bytes: 10, sha256: 'ab'.repeat(32), version: '10', schedule },
    ...{ snapshot: { bytes: 10, sha256: 'ab'.repeat(32) }, compression: 'none', encryption: 'none' },
    ...{ etcdVersion: '3.6.16', clusterId: 'c', memberId: 'm', revision: day, revisionAtMost: day, hashKV: null },
    ...{ takenAt: new Date(Date.UTC(2026, 5, day)).toISOString(), tookMs: 1 },
    ...(askedAt !== '' && { askedAt }),
  };
  objects.set(`${prefix}${name}`, '0123456789');
  objects.set(`${prefix}${name}.json`, JSON.stringify(record));
  const proof = { format: 1, object, sha256: record.sha256, revision: day };
  if (verified) objects.set(`${prefix}${name}.verified.json`, JSON.stringify(proof));
}

const find = (store: Store, signal = AbortSignal.timeout(10_000)) =>
  findOwnBackups(store, { location, schedule }, { signal });

async function pruned(store: Store, more: Partial<PruneAsked> = {}, said: Pruned[] = []): Promise<Pruned | undefined> {
  const asked = { operation: 'prune', prefix: `s3://backups/${prefix}`, deadlineSeconds: 60, timeZone: 'UTC' } as const;
  const within = { store, signal: AbortSignal.timeout(10_000), now: () => new Date('2026-06-30T12:00:00Z') };
  await prune({ ...asked, location, schedule, most: 100, keep: { last: 1 }, ...more }, within, (so) => said.push(so));
  return said.at(-1);
}

function failingAt(end: string, reason: BackupFailure['reason']): (name: string) => void {
  return (name) => {
    if (name.endsWith(end)) throw new BackupFailure(reason, `${name}: ${reason}`);
  };
}

test('of each backup its record and its proof are read, each once, and nothing else', async () => {
  const store = memory();
  add(store, 'a.db', { verified: true });
  add(store, 'b.db');
  await find(store);
  const asked = store.asked.filter((one) => !one.startsWith('list')).toSorted();
  const all = ['a.db.json', 'a.db.verified.json', 'b.db.json'].map((name) => `${prefix}${name}`);
  assert.deepEqual(asked, [...all.map((name) => `read ${name}`), ...all.map((name) => `stat ${name}`)]);
});

test('a record that goes, changes or is refused while it is read keeps its object', async () => {
  for (const reason of ['NotFound', 'Changed', 'StoreRefused'] as const) {
    const store = memory(failingAt('a.db.json', reason));
    add(store, 'a.db');
    add(store, 'b.db', { day: 2 });
    const { backups, others } = await find(store);
    assert.deepEqual([backups.map(({ id }) => id), others], [['b.db'], 2], reason);
  }
});

test('the only verified backup stays where its proof can not be read now', async () => {
  for (const reason of ['NotFound', 'Changed', 'StoreRefused'] as const) {
    const store = memory(failingAt('.verified.json', reason));
    add(store, 'a.db', { verified: true });
    for (const day of [2, 3]) add(store, `${day}.db`, { day });
    assert.partialDeepStrictEqual(await pruned(store), { kept: 1, removed: 1, names: ['2.db'], others: 3 }, reason);
    assert.ok(store.objects.has(`${prefix}a.db`), reason);
  }
});

test('a store that answers nothing ends a retention before anything goes', async () => {
  for (const end of ['a.db.json', '.verified.json']) {
    const store = memory(failingAt(end, 'Unreachable'));
    add(store, 'a.db', { verified: true });
    for (const day of [2, 3]) add(store, `${day}.db`, { day });
    await assert.rejects(pruned(store), { reason: 'Unreachable' });
    assert.ok(!store.asked.some((one) => one.startsWith('delete')));
  }
});

test('when its time is up a retention asks a store for no further object', async () => {
  const stop = new AbortController();
  const store = memory(() => stop.abort(new Error('the time is up')));
  for (let index = 0; index < 40; index += 1) add(store, `${index}.db`);
  await assert.rejects(find(store, stop.signal), /the time is up/);
  assert.equal(store.asked.filter((one) => one.startsWith('read')).length, 16, 'those that were asked for at a time');
  const listed = memory();
  for (let index = 0; index < 40; index += 1) add(listed, `${index}.db`);
  await assert.rejects(find(listed, AbortSignal.abort(new Error('the time is up'))), /the time is up/);
  assert.equal(listed.asked.length, 1);
});

test('a retention goes by when a backup was asked for, where its record says so', async () => {
  const store = memory();
  add(store, 'a.db', { day: 2, askedAt: '2026-06-01T00:00:00Z' });
  add(store, 'b.db', { day: 3 });
  const { backups } = await find(store);
  assert.deepEqual(
    backups.map(({ askedAt }) => askedAt?.toISOString()),
    ['2026-06-01T00:00:00.000Z', undefined],
  );
});

test('what a retention has not deleted yet is not told as removed', async () => {
  const store = memory(nothing, (name) => {
    if (name.endsWith('2.db')) throw new BackupFailure('Unreachable', name);
  });
  for (const day of [1, 2, 3]) add(store, `${day}.db`, { day });
  const said: Pruned[] = [];
  await assert.rejects(pruned(store, {}, said), { reason: 'Unreachable' });
  assert.deepEqual(
    said.map(({ removed, left, names }) => [removed, left, names]),
    [
      [0, 2, []],
      [1, 1, ['1.db']],
    ],
  );
});

test('a dry run deletes nothing, and says what would go', async () => {
  const store = memory();
  for (const day of [1, 2]) add(store, `${day}.db`, { day });
  assert.partialDeepStrictEqual(await pruned(store, { dryRun: true }), { dryRun: true, removed: 1, names: ['1.db'] });
  assert.ok(!store.asked.some((one) => one.startsWith('delete')));
});

test('what an earlier run left is cleared within what one run may delete', async () => {
  const store = memory();
  for (const name of ['a.db', 'b.db', 'c.db']) {
    add(store, name, { verified: true });
    store.objects.delete(`${prefix}${name}`);
  }
  await pruned(store, { most: 2 });
  assert.deepEqual(
    [...store.objects.keys()],
    ['c.db.json', 'c.db.verified.json'].map((name) => `${prefix}${name}`),
  );
});

test('names of what goes are told as far as they fit into a message', async () => {
  const short = memory();
  for (let day = 1; day <= 25; day += 1) add(short, `${String(day).padStart(2, '0')}.db`, { day });
  assert.equal((await pruned(short))?.names.length, 20);
  const long = memory();
  for (let day = 1; day <= 5; day += 1) add(long, `${day}${'x'.repeat(600)}.db`, { day });
  const said = await pruned(long);
  assert.deepEqual([said?.removed, said?.names.length], [4, 2]);
});
