import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findInside } from '../../../gitops/specs/inside.ts';

const ours = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster', metadata: { name: 'orders' }, spec: {} };

for (const [what, value, kind, path] of [
  ['an object in a list', { items: [1, ours] }, 'resource', ['items', 1]],
  ['an object with a mistyped kind', { items: [{ ...ours, kind: 'EtcdClutser' }] }, 'resource', ['items', 0]],
  ['a text', { data: { a: `x\n${JSON.stringify(ours)}` } }, 'text', ['data', 'a']],
  ['a reference', { target: { apiVersion: ours.apiVersion, name: 'a' } }, 'text', ['target', 'apiVersion']],
  ['a key', { a: { 'etcd.ratchet.dev/v1alpha1': 1 } }, 'text', ['a', 'etcd.ratchet.dev/v1alpha1']],
  ['an ordered map', new Map([['a', ours]]), 'resource', [0, 0, 1]],
  ['bytes', { a: new Uint8Array(Buffer.from(JSON.stringify(ours))) }, 'text', ['a']],
  ['an encrypted kind', { items: [{ kind: 'ENC[x]' }] }, 'cipher', ['items', 0]],
] as const) {
  test(`${what} is found with its place`, () => {
    assert.partialDeepStrictEqual(findInside(value), [{ kind, path }]);
  });
}

test('a label, a right and a definition name our group, and no object', () => {
  const value = {
    group: 'etcd.ratchet.dev',
    labels: { 'etcd.ratchet.dev/cluster': 'orders' },
    apiGroups: ['etcd.ratchet.dev'],
  };
  assert.deepEqual(findInside(value), []);
});

test('what aliases lead to is looked at once, however often they double', () => {
  let value: unknown = [ours];
  for (let level = 0; level < 60; level++) value = [value, value];
  assert.equal(findInside(value).length, 1);
});

test('of thousands the first few are told, and a value in itself ends', () => {
  const value: unknown[] = Array.from({ length: 5_000 }, () => ({ ...ours }));
  value.push(value);
  assert.equal(findInside(value).length, 20);
  assert.deepEqual(findInside(value)[0]?.path, [0]);
});
