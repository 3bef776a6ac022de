import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Store } from '../../../reconcile/backup/stores/store.ts';
import type { Fault, FaultProxy } from './fault-proxy.ts';
import { limited, listed, pieces, reasonOf, whole } from './store-contract.ts';

const MiB = 1024 * 1024;

/** What every object store must stand, each with its real client. */
export function faultsContract(proxy: () => FaultProxy, open: () => Store): void {
  const every = (count: number, fault: Fault) => (_: unknown, number: number) =>
    number % count === count - 1 ? fault : 'pass';
  const storms: readonly [string, Fault, number][] = [
    ['every third request answered by 503', { status: 503 }, 3],
    ['every third request reset after 100 KiB', { resetAfter: 100 * 1024 }, 3],
    ['every third answer lost', 'loseAnswer', 3],
    ['a link of 40 MiB a second', { slow: 40 * MiB }, 1],
  ];
  for (const [name, fault, count] of storms) {
    test(`an upload comes through with ${name}`, async () => {
      const store = open();
      const data = randomBytes(20 * MiB + 5);
      const object = `faults/${name.replaceAll(' ', '-')}.db`;
      const before = proxy().faults();
      proxy().fault = every(count, fault);
      const stored = await store.put(object, pieces(data), limited());
      proxy().fault = () => 'pass';
      assert.ok(proxy().faults() > before, 'nothing was injected');
      assert.equal(stored.bytes, data.length);
      assert.ok((await whole(store.read(object, limited()))).equals(data));
      store.close();
    });
  }

  test('a read goes on where it broke off', async () => {
    const store = open();
    const data = randomBytes(12 * MiB);
    await store.put('faults/read.db', pieces(data), limited());
    proxy().fault = ({ method }) => (method === 'GET' ? { cutAnswerAfter: 5 * MiB } : 'pass');
    const before = proxy().faults();
    assert.ok((await whole(store.read('faults/read.db', limited()))).equals(data));
    proxy().fault = () => 'pass';
    assert.ok(proxy().faults() > before + 1, 'nothing was injected');
    store.close();
  });

  test('a store that refuses is told as what it is, and nothing is left', async () => {
    const store = open();
    for (const status of [401, 403]) {
      proxy().fault = () => ({ status });
      assert.equal(await reasonOf(store.put('faults/refused.db', pieces(randomBytes(MiB)), limited())), 'Forbidden');
      assert.equal(await reasonOf(store.stat('faults/refused.db', limited())), 'Forbidden');
    }
    proxy().fault = () => 'pass';
    assert.deepEqual(await listed(store, 'faults/refused'), []);
    store.close();
  });

  test('a store that refuses from the middle of an upload on is told, and nothing is left', async () => {
    const store = open();
    let sent = 0;
    proxy().fault = ({ method }) => (method === 'PUT' && ++sent > 1 ? { status: 403 } : 'pass');
    assert.equal(await reasonOf(store.put('faults/middle.db', pieces(randomBytes(24 * MiB)), limited())), 'Forbidden');
    proxy().fault = () => 'pass';
    assert.ok(sent > 1, 'nothing was injected');
    assert.deepEqual(await listed(store, 'faults/middle'), []);
    store.close();
  });
}
