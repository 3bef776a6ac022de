import assert from 'node:assert/strict';
import { test } from 'node:test';
import { egressFrom, wrongSettings } from '../../../functions/environment.ts';
import { listRefusal } from '../../../manifests/egress/allow-lists.ts';

/** What an admin of the installation lets authors name, and what only looks like it. */

const allows = (entries: string, name: string) =>
  listRefusal(egressFrom({ RATCHET_IMAGES: entries }).lists, 'images', name, 'payments') === undefined;

for (const [entries, name, is] of [
  ['registry.example.com/etcd', 'registry.example.com/etcd', true],
  ['registry.example.com/etcd', 'registry.example.com/etcd:v3.6.16', true],
  ['registry.example.com/etcd', 'registry.example.com/etcd@sha256:0', true],
  ['registry.example.com/etcd', 'registry.example.com/etcd/own:v1', true],
  ['registry.example.com/etcd', 'registry.example.com/etcd-own:v1', false],
  ['registry.example.com/etcd', 'registry.example.com.evil/etcd:v1', false],
  ['registry.example.com', 'registry.example.com/any:v1', true],
  ['registry.example.com', 'registry.example.com:5000/any:v1', false],
  ['registry.example.com', 'registry.example.com@evil.example/any', false],
  ['registry.example.com:5000/', 'registry.example.com:5000/any:v1', true],
  ['registry.example.com/{namespace}', 'registry.example.com/payments/a:v1', true],
  ['registry.example.com/{namespace}', 'registry.example.com/payments-2/a:v1', false],
  ['registry.example.com/{namespace}', 'registry.example.com/team-b/a:v1', false],
  ['registry.example.com/team-*', 'registry.example.com/team-b/a:v1', true],
  ['registry.example.com/team-*', 'registry.example.com/other/a:v1', false],
  ['a.example/x,\n b.example/y', 'b.example/y:v1', true],
  ['nginx', 'docker.io/library/nginx', false],
  ['*', 'anything:v1', true],
  ['re[g]istry', 'registry', false],
] as const)
  test(`a list with ${JSON.stringify(entries)} ${is ? 'allows' : 'refuses'} ${name}`, () => {
    assert.equal(allows(entries, name), is);
  });

test('a list that is not set allows everything, and in a strict installation nothing', () => {
  assert.equal(listRefusal(egressFrom({}).lists, 'buckets', 's3://any/a', 'payments'), undefined);
  assert.equal(egressFrom({}).hosts, undefined);
  const strict = egressFrom({ RATCHET_STRICT: 'Enabled', RATCHET_IMAGES: 'a.example' });
  assert.match(listRefusal(strict.lists, 'buckets', 's3://any/a', 'payments') ?? '', /s3:\/\/any\/a.*RATCHET_BUCKETS/);
  assert.equal(listRefusal(strict.lists, 'images', 'a.example/b:v1', 'payments'), undefined);
  assert.deepEqual(strict.hosts, []);
});

test('an entry that can not be read is told by its variable', () => {
  assert.deepEqual(wrongSettings({ RATCHET_IMAGES: 'good.example/a b?d', RATCHET_SERVICE_TYPES: 'Load"Balancer' }), [
    'RATCHET_IMAGES: b?d',
    'RATCHET_SERVICE_TYPES: Load"Balancer',
  ]);
});
