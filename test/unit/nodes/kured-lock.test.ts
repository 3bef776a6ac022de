import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { kuredHolders } from '../../../reconcile/nodes/outside.ts';
import { at } from './seen.ts';

const hour = 3_600_000_000_000;

function lock(nodeID: string, ttl = 0, created = '2026-11-23T11:30:00.123456789Z') {
  return { nodeID, metadata: { unschedulable: false }, created, TTL: ttl };
}

test('the node that holds the lock is named, and none where there is no lock', () => {
  assert.deepEqual(kuredHolders(undefined, at), []);
  assert.deepEqual(kuredHolders(JSON.stringify(lock('node-1')), at), ['node-1']);
});

test('each node that holds a part of the lock is named, and none where all were given back', () => {
  const locks = [lock('node-1'), lock('node-2.example.com')];
  assert.deepEqual(kuredHolders(JSON.stringify({ maxOwners: 2, locks }), at), ['node-1', 'node-2.example.com']);
  assert.deepEqual(kuredHolders(JSON.stringify({ maxOwners: 2, locks: [] }), at), []);
  assert.deepEqual(kuredHolders(JSON.stringify({ maxOwners: 2, locks: null }), at), []);
});

test('a lock counts until its time to live is over, and for ever without one', () => {
  const held = (ttl: number) => kuredHolders(JSON.stringify(lock('node-1', ttl)), at).length;
  assert.deepEqual([held(0), held(hour), held(hour / 4)], [1, 1, 0]);
  for (const unknown of [{ created: 'yesterday' }, { created: 0 }, { TTL: String(hour / 4) }]) {
    const text = JSON.stringify({ ...lock('node-1', hour / 4), ...unknown });
    assert.equal(kuredHolders(text, at).length, 1, `nothing says when it ends: ${text}`);
  }
});

test('a lock that can not be read is held: by whom is not told', () => {
  for (const text of [
    '',
    'null',
    '[]',
    '{"locks":[1]}',
    '{"locks":[null]}',
    JSON.stringify(lock('a\u001b[31m')),
    '{"nodeID":7}',
    '{',
  ])
    assert.match(kuredHolders(text, at).join(), /^a node that can not be read/, text);
});

test('any annotation is read or held, and nothing is thrown', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      for (const name of kuredHolders(text, at)) assert.match(name, /^[a-z0-9. -]{1,253}$/);
    }),
  );
});
