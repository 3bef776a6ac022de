import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { judgeSets } from '../../../reconcile/cluster/observe/judge-sets.ts';
import { othersMaySet } from '../../../reconcile/cluster/observe/own-set.ts';
import { type Kube, KubeError } from '../../../reconcile/interfaces/kube.ts';
import { differences } from '../../../reconcile/objects/differences.ts';
import { otherHandsOn } from '../../../reconcile/objects/hands.ts';
import { peerOf } from '../manifests/build-fixtures.ts';

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

describe('where the API server refuses what a dry run needs', () => {
  const made = peerOf();
  const peer = { ...made, metadata: { ...made.metadata, name: 'orders-0', namespace: 'shop', uid: 'peer' } };
  const ofPeer = { apiVersion: 'v1', kind: 'EtcdPeer', name: 'orders-0', uid: 'peer', controller: true };
  const refused = new KubeError('no dry run', { class: 'terminal', reason: 'Forbidden' });
  const kube = new Proxy({}, { get: () => () => Promise.reject(refused) }) as Kube;

  async function judged(replicas: number) {
    const { metadata } = object({ manager: 'keel', fieldsV1: ofSpec });
    const set = { metadata: { ...metadata, namespace: 'shop', uid: 'set', ownerReferences: [ofPeer] }, spec: {} };
    const template = { metadata: {}, spec: spec.template.spec };
    const statefulSets = [{ ...set, spec: { template, replicas } } as unknown as StatefulSet];
    const cluster = { metadata: { name: 'orders', namespace: 'shop' }, spec: {} } as EtcdCluster;
    const all = await judgeSets(kube, { cluster, peers: [peer], statefulSets }, AbortSignal.timeout(5000));
    return all.get('orders-0')?.drift;
  }

  test('a StatefulSet that asks for no pod is told without a comparison', async () => {
    const drift = { kind: 'changed', fields: ['spec.replicas'], by: 'keel', replicas: 0 };
    assert.deepEqual(await judged(0), drift);
  });

  test('of one that asks for its pod nothing is known', async () => {
    assert.equal((await judged(1))?.kind, 'unknown');
  });
});
