import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { othersMaySet } from '../../../reconcile/cluster/observe/own-set.ts';
import { differences } from '../../../reconcile/objects/differences.ts';
import { otherHandsOn } from '../../../reconcile/objects/hands.ts';

const etcd = { name: 'etcd', image: 'etcd:v3.6.16', args: ['--name=a'], env: [{ name: 'A', value: 'secret' }] };
const spec = { replicas: 1, template: { spec: { containers: [etcd], nodeSelector: { disk: 'ssd' } } } };

function withEtcd(change: object, ...more: readonly object[]): object {
  return { ...spec, template: { spec: { ...spec.template.spec, containers: [{ ...etcd, ...change }, ...more] } } };
}

const cases: readonly (readonly [what: string, found: object, paths: readonly string[]])[] = [
  ['nothing', structuredClone(spec), []],
  ['an absent field and a null', { ...spec, minReadySeconds: null }, []],
  ['a number', { ...spec, replicas: 0 }, ['spec.replicas']],
  ['a field that was added', { ...spec, minReadySeconds: 5 }, ['spec.minReadySeconds']],
  ['an image', withEtcd({ image: 'etcd:v3.7.3' }), ['spec.template.spec.containers[etcd].image']],
  ['an argument', withEtcd({ args: ['--name=a', '-x'] }), ['spec.template.spec.containers[etcd].args']],
  ['a variable', withEtcd({ env: [{ name: 'A', value: 'x' }] }), ['spec.template.spec.containers[etcd].env[A].value']],
  ['a container', withEtcd({}, { name: 'agent' }), ['spec.template.spec.containers[agent]']],
  ['a list that was removed', withEtcd({ env: undefined }), ['spec.template.spec.containers[etcd].env']],
];

for (const [what, found, paths] of cases) {
  test(`what differs is told by its path, and never by its value: ${what}`, () => {
    assert.deepEqual(differences(found, spec, 'spec'), paths);
  });
}

test('two entries of a list in another order differ', () => {
  const [a, b] = [{ name: 'a' }, { name: 'b' }];
  assert.deepEqual(differences({ list: [a, b] }, { list: [b, a] }, 'spec'), ['spec.list']);
  assert.deepEqual(differences({ list: [a, a] }, { list: [a, b] }, 'spec'), ['spec.list']);
});

function object(...managedFields: readonly object[]) {
  return { metadata: { name: 'orders-0', managedFields } };
}

const ofSpec = { 'f:spec': { 'f:replicas': {} } };

test('who changed an object is named by its field managers, the latest first', () => {
  const found = object(
    { manager: 'etcd-ratchet', operation: 'Update', fieldsV1: ofSpec },
    { manager: 'kube-controller-manager', operation: 'Update', subresource: 'status', fieldsV1: ofSpec },
    { manager: 'labeller', operation: 'Update', fieldsV1: { 'f:metadata': {} } },
    { manager: 'keel', operation: 'Update', time: '2026-01-01T00:00:00Z', fieldsV1: ofSpec },
    { manager: 'kubectl', operation: 'Update', subresource: 'scale', time: '2026-01-02T00:00:00Z', fieldsV1: ofSpec },
  );
  assert.equal(otherHandsOn(found), 'kubectl (scale), keel');
});

test('a client that names itself in a way that misleads is told by plain letters only', () => {
  const found = object({ manager: 'x`\n# Approve: $(rm)', operation: 'Update', fieldsV1: ofSpec });
  assert.equal(otherHandsOn(found), 'xApprove:rm');
  assert.equal(otherHandsOn(object({ manager: '\u202e', fieldsV1: ofSpec })), 'a client without a name');
  assert.equal(otherHandsOn(object()), 'another client');
});

test('the reference tells each annotation that others may set in a template of ours', () => {
  const page = readFileSync(new URL('../../../docs/reference/objects.md', import.meta.url), 'utf8');
  for (const key of Object.keys(othersMaySet)) assert.ok(page.includes(`\`${key}\``), key);
});
