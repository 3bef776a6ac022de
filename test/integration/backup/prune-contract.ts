import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { urlOf, verifiedSuffix } from '../../../manifests/api/object-template.ts';
import { type Pruned, prune } from '../../../reconcile/backup/agent/prune.ts';
import { type BackupRecord, writeRecord } from '../../../reconcile/backup/agent/record.ts';
import type { PruneAsked } from '../../../reconcile/backup/agent/request.ts';
import { locked } from '../../../reconcile/backup/stores/failures.ts';
import type { Store, StoredObject } from '../../../reconcile/backup/stores/store.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';
import { limited, listed, pieces, reasonOf } from './store-contract.ts';

const now = new Date('2026-06-30T12:00:00Z');

/** What retention does in a real store. `open` gives one whose names are free under `prune/`. */
export function pruneContract(open: () => Promise<Store> | Store): void {
  test('what is not kept goes with its record and its proof, the oldest first', async () => {
    const place = placeIn(await open());
    for (const day of [1, 2, 3, 4, 5]) await place.backup(`${day}.db`, { day, verified: day === 2 || day === 4 });
    const pruned = await place.prune({ keep: { last: 1 } });
    assert.deepEqual(pruned, {
      dryRun: false,
      kept: 2,
      earlierLives: 0,
      removed: 3,
      names: ['1.db', '2.db', '3.db'],
      left: 0,
      locked: 0,
      others: 0,
    });
    assert.deepEqual(await place.names(), ['4.db', '4.db.json', '4.db.verified.json', '5.db', '5.db.json']);
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 } }), { kept: 2, removed: 0, left: 0 });
  });

  test('a dry run says what would go, and deletes nothing', async () => {
    const place = placeIn(await open());
    for (const day of [1, 2, 3]) await place.backup(`${day}.db`, { day, verified: true });
    const before = await place.names();
    const said = await place.prune({ keep: { last: 1 }, dryRun: true });
    assert.deepEqual(said, {
      dryRun: true,
      kept: 1,
      earlierLives: 0,
      removed: 2,
      names: ['1.db', '2.db'],
      left: 0,
      locked: 0,
      others: 0,
    });
    assert.deepEqual(await place.names(), before);
  });

  test('the newest verified backup of a cluster that was lost outlives those of its namesake', async () => {
    const place = placeIn(await open());
    const lost = { record: { clusterId: 'b' } };
    await place.backup('lost-1.db', { day: 1, verified: true, ...lost });
    await place.backup('lost-2.db', { day: 2, verified: true, ...lost });
    for (const day of [3, 4, 5]) await place.backup(`new-${day}.db`, { day, verified: true });
    const expected = { kept: 2, earlierLives: 1, removed: 3, names: ['lost-1.db', 'new-3.db', 'new-4.db'] };
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 }, dryRun: true }), expected);
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 } }), expected);
    const objects = (await place.names()).filter((name) => name.endsWith('.db'));
    assert.deepEqual(objects, ['lost-2.db', 'new-5.db']);
  });

  test('a file beside an object is no proof of it unless it tells of that very object', async () => {
    const place = placeIn(await open());
    const proofs = {
      '1.db': {},
      '2.db': { sha256: 'c'.repeat(64) },
      '3.db': { object: 'gs://b/x' },
      '4.db': 'no JSON',
    };
    for (const [index, [name, proof]] of Object.entries(proofs).entries())
      await place.backup(name, { day: index + 1, verified: true, proof });
    await place.backup('5.db', { day: 5 });
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 } }), { kept: 2, removed: 3 });
    const objects = (await place.names()).filter((name) => name.endsWith('.db'));
    assert.deepEqual(objects, ['1.db', '5.db'], 'the one that is proven, and the newest');
  });

  test('what a backup that is under way has made stays until that is over', async () => {
    const place = placeIn(await open());
    await place.backup('1.db', { day: 1, record: { id: 'under way' } });
    for (const day of [2, 3]) await place.backup(`${day}.db`, { day });
    const spared = await place.prune({ keep: { last: 1 }, spare: ['under way'] });
    assert.partialDeepStrictEqual(spared, { kept: 2, removed: 1, names: ['2.db'] });
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 } }), { kept: 1, removed: 1, names: ['1.db'] });
  });

  test('one run deletes no more than it was allowed, and says how many are left', async () => {
    const place = placeIn(await open());
    for (const day of [1, 2, 3, 4, 5]) await place.backup(`${day}.db`, { day });
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 }, most: 3 }), { kept: 1, removed: 3, left: 1 });
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 }, most: 3 }), { kept: 1, removed: 1, left: 0 });
    assert.deepEqual(await place.names(), ['5.db', '5.db.json']);
  });

  test("nothing goes but the schedule's own, whatever lies under its prefix", async () => {
    const place = placeIn(await open());
    await place.backup('1.db', { day: 1 });
    await place.backup('2.db', { day: 2 });
    await place.backup('another.db', { day: 1, record: { schedule: 'another schedule' } });
    await place.backup('single.db', { day: 1, record: { schedule: undefined } });
    await place.backup('moved.db', { day: 1, record: { object: 'gs://bucket/elsewhere.db' } });
    await place.backup('replaced.db', { day: 1, record: { version: 'another version' } });
    await place.backup('grown.db', { day: 1, record: { bytes: 12345 } });
    await place.backup('newer.db', { day: 1, record: { format: 2 } as never });
    await place.put('torn.db', 'an upload whose record was never written');
    await place.put('own.db', 'a snapshot of a person');
    await place.put('own.db.json', '{"a":"file of a person"}');
    await place.put('no.db.json', 'no JSON');
    await place.put('lonely.db.verified.json', '{}');
    await place.put('huge.db.json', ' '.repeat(70_000));
    const before = await place.names();
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 } }), {
      kept: 1,
      removed: 1,
      names: ['1.db'],
      others: 18,
    });
    assert.deepEqual(
      await place.names(),
      before.filter((name) => !name.startsWith('1.db')),
    );
  });

  test("two schedules of one prefix never delete each other's", async () => {
    const place = placeIn(await open());
    for (const day of [1, 2, 3]) {
      await place.backup(`a-${day}.db`, { day });
      await place.backup(`b-${day}.db`, { day: day + 10, record: { schedule: 'b' } });
    }
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 2 } }), { removed: 1, names: ['a-1.db'] });
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 }, schedule: 'b' }), {
      removed: 2,
      names: ['b-1.db', 'b-2.db'],
    });
    const objects = (await place.names()).filter((name) => name.endsWith('.db'));
    assert.deepEqual(objects, ['a-2.db', 'a-3.db', 'b-3.db']);
  });

  test('killed after any delete, no proof outlives its object, and the next run goes on', async () => {
    for (const deletes of [0, 1, 2, 3, 4, 5]) {
      const place = placeIn(await open());
      for (const day of [1, 2, 3]) await place.backup(`${day}.db`, { day, verified: true });
      const killed = place.prune({ keep: { last: 1 } }, killedAfter(deletes, place.store));
      assert.equal(await reasonOf(killed), 'Stopped');
      const left = await place.names();
      for (const name of left.filter((one) => one.endsWith(verifiedSuffix)))
        assert.ok(left.includes(name.slice(0, -verifiedSuffix.length)), `${deletes}: ${left}`);
      await place.prune({ keep: { last: 1 } });
      assert.deepEqual(await place.names(), ['3.db', '3.db.json', '3.db.verified.json']);
    }
  });

  test('a record whose object appears only after the listing is not taken for a remainder', async () => {
    const place = placeIn(await open());
    await place.backup('1.db', { day: 1 });
    const early = hiding((name) => name.endsWith('/1.db'), place.store);
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 } }, early), { kept: 0, removed: 0 });
    assert.deepEqual(await place.names(), ['1.db', '1.db.json']);
  });

  test('what the store locks stays whole, is told, and the others go', async () => {
    const place = placeIn(await open());
    for (const day of [1, 2, 3, 4, 5, 6]) await place.backup(`${day}.db`, { day, verified: day < 4 });
    const before = await place.names();
    const locks = { '1.db': new Date(now.getTime() + 1000), '2.db': 'held', '4.db': now } as const;
    const said = await place.prune({ keep: { last: 1 } }, locking(locks, '5.db', place.store));
    assert.partialDeepStrictEqual(said, { kept: 2, removed: 1, names: ['4.db'], left: 3, locked: 3 });
    assert.deepEqual(
      await place.names(),
      before.filter((name) => !name.startsWith('4.db')),
    );
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 } }), { removed: 3, left: 0, locked: 0 });
  });

  test('however many are locked, what is not goes, and a record that is locked goes later', async () => {
    const place = placeIn(await open());
    for (const day of [1, 2, 3, 4]) await place.backup(`${day}.db`, { day });
    const asked = { keep: { last: 1 }, most: 1 };
    const locks = { '1.db': 'held', '2.db': 'held' } as const;
    const said = await place.prune(asked, locking(locks, '3.db.json', place.store));
    assert.partialDeepStrictEqual(said, { removed: 1, names: ['3.db'], left: 2, locked: 2 });
    assert.deepEqual(await place.names(), ['1.db', '1.db.json', '2.db', '2.db.json', '3.db.json', '4.db', '4.db.json']);
    await place.prune(asked, locking(locks, 'none', place.store));
    assert.deepEqual(await place.names(), ['1.db', '1.db.json', '2.db', '2.db.json', '4.db', '4.db.json']);
  });

  test('an object that is replaced after the listing stays', async () => {
    const place = placeIn(await open());
    await place.backup('1.db', { day: 1 });
    await place.backup('2.db', { day: 2 });
    const replacing: Store = {
      ...place.store,
      async delete(object, options) {
        if (object.name.endsWith('1.db')) {
          await place.store.delete(object, options);
          await place.put('1.db', 'something else of another length');
        }
        await place.store.delete(object, options);
      },
    };
    assert.equal(await reasonOf(place.prune({ keep: { last: 1 } }, replacing)), 'Changed');
    assert.deepEqual(await place.names(), ['1.db', '1.db.json', '2.db', '2.db.json']);
    assert.partialDeepStrictEqual(await place.prune({ keep: { last: 1 } }), { kept: 1, removed: 0, others: 2 });
  });
}

interface Made {
  /** Of June 2026. */
  readonly day: number;
  readonly verified?: boolean;
  /** In place of what its own proof says. */
  readonly proof?: object | string;
  readonly record?: { readonly [K in keyof BackupRecord]?: BackupRecord[K] | undefined };
}

function placeIn(store: Store) {
  const prefix = `prune/${randomUUID()}/`;
  const [, scheme = '', bucket = ''] = /^(\w+):\/\/([^/]+)/.exec(store.place) ?? [];
  const location = { scheme: scheme as 'gs' | 's3' | 'pvc', bucket, path: prefix };
  const put = (name: string, text: string): Promise<StoredObject> =>
    store.put(`${prefix}${name}`, pieces(Buffer.from(text)), limited());

  async function backup(name: string, { day, verified = false, proof = {}, record }: Made): Promise<void> {
    const object = await put(name, `a snapshot ${name}`);
    const { schedule, ...whole } = {
      ...facts,
      object: urlOf({ ...location, path: object.name }),
      bytes: object.bytes,
      version: object.version,
      takenAt: new Date(Date.UTC(2026, 5, day)).toISOString(),
      ...record,
    };
    await writeRecord(store, object.name, { ...whole, ...(schedule && { schedule }) } as BackupRecord, limited());
    const { object: told, sha256, revision } = whole;
    const said =
      typeof proof === 'string' ? proof : JSON.stringify({ format: 1, object: told, sha256, revision, ...proof });
    if (verified) await put(`${name}${verifiedSuffix}`, said);
  }

  async function run(asked: Partial<PruneAsked>, through: Store = store): Promise<Pruned | undefined> {
    let said: Pruned | undefined;
    const request: PruneAsked = {
      operation: 'prune',
      prefix: urlOf(location),
      location,
      schedule: facts.schedule,
      keep: {},
      timeZone: 'UTC',
      most: 100,
      deadlineSeconds: 60,
      ...asked,
    };
    await prune(request, { store: through, ...limited(), now: () => now }, (so) => {
      said = so;
    });
    return said;
  }

  const names = async () => (await listed(store, prefix)).map(({ name }) => name.slice(prefix.length));
  return { store, put, backup, prune: run, names };
}

/** As if the pod went away at this moment. */
function killedAfter(deletes: number, store: Store): Store {
  let done = 0;
  return {
    ...store,
    async delete(object, options) {
      if (done === deletes) throw new BackupFailure('Stopped', 'killed');
      done++;
      await store.delete(object, options);
    },
  };
}

/** With locks that a look tells, and one that only the deletion meets. */
function locking(locks: Readonly<Record<string, Date | 'held'>>, unseen: string, store: Store): Store {
  const short = (name: string) => name.slice(name.lastIndexOf('/') + 1);
  return {
    ...store,
    async stat(name, options) {
      const found = await store.stat(name, options);
      const lockedUntil = locks[short(name)];
      return found && { ...found, ...(lockedUntil && { lockedUntil }) };
    },
    async delete(object, options) {
      if (short(object.name) === unseen) throw locked(`${store.place}/${object.name}`);
      await store.delete(object, options);
    },
  };
}

function hiding(isHidden: (name: string) => boolean, store: Store): Store {
  return {
    ...store,
    async *list(prefix, options) {
      for await (const object of store.list(prefix, options)) if (!isHidden(object.name)) yield object;
    },
  };
}

const facts = {
  format: 1,
  id: 'uid',
  schedule: 'own schedule',
  sha256: 'a'.repeat(64),
  snapshot: { bytes: 1, sha256: 'b'.repeat(64) },
  compression: 'none',
  encryption: 'none',
  etcdVersion: '3.6.16',
  clusterId: '1',
  memberId: '2',
  revision: 1,
  revisionAtMost: 1,
  hashKV: null,
  tookMs: 1,
} as const;
