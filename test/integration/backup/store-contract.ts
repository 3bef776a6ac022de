import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Store, StoredObject } from '../../../reconcile/backup/stores/store.ts';
import { BackupFailure, type FailureReason } from '../../../reconcile/jobs/failure.ts';

export const limited = () => ({ signal: AbortSignal.timeout(30_000) });

export async function* pieces(bytes: Uint8Array, size = 32 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(Buffer.from(chunk));
  return Buffer.concat(all);
}

export async function listed(store: Store, prefix: string): Promise<readonly StoredObject[]> {
  return Array.fromAsync(store.list(prefix, limited()));
}

export async function reasonOf(promise: Promise<unknown>): Promise<FailureReason> {
  const outcome = await promise.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof BackupFailure, String(outcome));
  return outcome.reason;
}

/** What every store must do, each against the real thing. `open` gives a store whose names are free under `test/`. */
export function storeContract(open: () => Promise<Store> | Store): void {
  test('what was put is read, found and listed as it is', async () => {
    const store = await open();
    // An object that fits into one request, one of several parts, and the edge between them.
    for (const [index, bytes] of [0, 1, 8 * 1024 * 1024, 20 * 1024 * 1024 + 7].entries()) {
      const data = randomBytes(bytes);
      const name = `test/same/${index}.db`;
      const stored = await store.put(name, pieces(data), limited());
      assert.partialDeepStrictEqual(stored, { name, bytes });
      assert.ok((await whole(store.read(name, limited()))).equals(data));
      assert.deepEqual(await store.stat(name, limited()), stored);
    }
    assert.deepEqual(
      (await listed(store, 'test/same/')).map(({ name }) => name),
      [0, 1, 2, 3].map((index) => `test/same/${index}.db`),
    );
    store.close();
  });

  test('an existing object is never overwritten, whatever its size, and says so', async () => {
    const store = await open();
    for (const bytes of [10, 20 * 1024 * 1024]) {
      const name = `test/kept/${bytes}.db`;
      const data = randomBytes(bytes);
      const stored = await store.put(name, pieces(data), limited());
      assert.equal(await reasonOf(store.put(name, pieces(randomBytes(bytes)), limited())), 'Exists');
      assert.deepEqual(await store.stat(name, limited()), stored);
      assert.ok((await whole(store.read(name, limited()))).equals(data));
    }
    store.close();
  });

  test('of two that put one name at once, one succeeds and the object is its', async () => {
    const store = await open();
    for (const bytes of [1000, 12 * 1024 * 1024]) {
      const both = [randomBytes(bytes), randomBytes(bytes)];
      const done = await Promise.allSettled(
        both.map((data) => store.put(`test/race/${bytes}.db`, pieces(data), limited())),
      );
      const winners = both.filter((_, index) => done[index]?.status === 'fulfilled');
      assert.equal(winners.length, 1, JSON.stringify(done));
      assert.ok((await whole(store.read(`test/race/${bytes}.db`, limited()))).equals(winners[0] ?? Buffer.alloc(0)));
    }
    store.close();
  });

  test('a body that fails leaves nothing under the name, and its own error', async () => {
    const store = await open();
    const torn = new Error('etcd hung up');
    for (const bytes of [0, 1000, 20 * 1024 * 1024]) {
      const name = `test/torn/${bytes}.db`;
      const failing = async function* () {
        yield* pieces(randomBytes(bytes));
        throw torn;
      };
      await assert.rejects(store.put(name, failing(), limited()), (error) => error === torn);
      assert.equal(await store.stat(name, limited()), undefined);
    }
    assert.deepEqual(await listed(store, 'test/torn/'), []);
    // The name is still free.
    await store.put('test/torn/1000.db', pieces(randomBytes(5)), limited());
    store.close();
  });

  test('one who is told to stop leaves nothing under the name', async () => {
    const store = await open();
    const stop = new AbortController();
    const endless = async function* () {
      for (let count = 0; ; count++) {
        if (count === 40) stop.abort(new Error('stopped'));
        yield randomBytes(256 * 1024);
      }
    };
    await assert.rejects(store.put('test/stopped.db', endless(), { signal: stop.signal }));
    assert.equal(await store.stat('test/stopped.db', limited()), undefined);
    store.close();
  });

  test('what is not there is told, and deleted once is gone', async () => {
    const store = await open();
    assert.equal(await store.stat('test/none.db', limited()), undefined);
    assert.equal(await reasonOf(whole(store.read('test/none.db', limited()))), 'NotFound');
    assert.deepEqual(await listed(store, 'test/none'), []);
    const stored = await store.put('test/gone.db', pieces(randomBytes(10)), limited());
    await store.delete(stored, limited());
    assert.equal(await store.stat('test/gone.db', limited()), undefined);
    await store.delete(stored, limited());
    store.close();
  });

  test('another version than the one that was listed is not deleted', async () => {
    const store = await open();
    const old = await store.put('test/replaced.db', pieces(randomBytes(10)), limited());
    await store.delete(old, limited());
    const renewed = await store.put('test/replaced.db', pieces(randomBytes(12)), limited());
    assert.equal(await reasonOf(store.delete(old, limited())), 'Changed');
    assert.deepEqual(await store.stat('test/replaced.db', limited()), renewed);
    store.close();
  });

  test('a prefix may end within a name', async () => {
    const store = await open();
    for (const name of ['test/p/b-1.db', 'test/p/b-2.db', 'test/p/c.db', 'test/p/b/3.db'])
      await store.put(name, pieces(randomBytes(3)), limited());
    const names = async (prefix: string) => (await listed(store, prefix)).map(({ name }) => name);
    assert.deepEqual(await names('test/p/b-'), ['test/p/b-1.db', 'test/p/b-2.db']);
    assert.deepEqual(await names('test/p/b'), ['test/p/b-1.db', 'test/p/b-2.db', 'test/p/b/3.db']);
    store.close();
  });
}
