import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedFields } from '../../../functions/checks/changed-fields.ts';

test('each field that a document changes is told from where to where, by its path', () => {
  const before = { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, tls: { mode: 'Managed' } };
  const after = { replicas: 5, version: '3.6.16', storage: { size: '2Gi' }, etcd: { snapshotCount: 100 } };
  assert.deepEqual(changedFields(before, after), [
    'spec.replicas: 3 → 5',
    'spec.storage.size: 1Gi → 2Gi',
    'spec.etcd: not set → {"snapshotCount":100}',
    'spec.tls: {"mode":"Managed"} → not set',
  ]);
  assert.deepEqual(changedFields(before, before), []);
});

test('entries of a list are told by their names, and long texts and many fields are cut', () => {
  const containers = (image: string) => ({ containers: [{ name: 'etcd', image }, { name: 'b' }] });
  assert.deepEqual(changedFields(containers('a'), containers('b')), ['spec.containers[etcd].image: a → b']);
  assert.deepEqual(changedFields({ a: 'x'.repeat(99) }, { a: 'one\ntwo' }), [`spec.a: ${'x'.repeat(60)}… → one…`]);
  const many = (value: number) => Object.fromEntries(Array.from({ length: 22 }, (_, n) => [`f${n}`, value]));
  const told = changedFields(many(1), many(2));
  assert.deepEqual([told.length, told.at(-1)], [21, 'and 2 others']);
});
