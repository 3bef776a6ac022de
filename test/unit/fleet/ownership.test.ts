import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../manifests/kube-types.ts';
import { goneFrom, writeInherited } from '../../../reconcile/fleet/inherited.ts';
import { droppedBy, ownershipBefore, withoutHands } from '../../../reconcile/fleet/ownership.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { driftOf } from '../../../reconcile/objects/drift.ts';
import { valueAt, without } from '../../../reconcile/objects/fields.ts';
import type { ManagedFields } from '../../../reconcile/objects/hands.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { clusterOf, fleetWith, specOf } from './objects.ts';

const manager = 'etcd-ratchet-fleet-platform-production';

function entry(name: string, fieldsV1: object, more: Partial<ManagedFields> = {}): ManagedFields {
  return { manager: name, operation: 'Update', fieldsV1, ...more };
}

const ofSpec = (...names: readonly string[]) => ({
  'f:spec': Object.fromEntries(names.map((name) => [`f:${name}`, {}])),
});
const oursOf = (entries: readonly ManagedFields[] | undefined) =>
  entries
    ?.filter(({ manager: name, operation }) => name === manager && operation === 'Apply')
    .map((one) => one.fieldsV1);

test('at adoption the fleet inherits what kubectl wrote, by whichever of its commands', () => {
  for (const name of ['client-side-apply', 'create', 'edit', 'patch', 'replace'].map((verb) => `kubectl-${verb}`)) {
    const change = ownershipBefore('adopt', [entry(name, ofSpec('replicas'))], manager);
    assert.deepEqual([oursOf(change?.entries), change?.from], [[ofSpec('replicas')], [name]]);
  }
  const applied = entry('kubectl', ofSpec('replicas'), { operation: 'Apply' });
  const both = ownershipBefore('adopt', [applied, entry('kubectl-edit', ofSpec('version'))], manager);
  assert.deepEqual(oursOf(both?.entries), [ofSpec('replicas', 'version')]);
  assert.deepEqual([both?.entries.length, both?.from], [1, ['kubectl', 'kubectl-edit']]);
});

test('what another controller owns, or a subresource, stays with its owner', () => {
  const others = [
    entry('kube-controller-manager', ofSpec('replicas'), { subresource: 'scale' }),
    entry('kubectl', ofSpec('replicas'), { subresource: 'scale' }),
    entry('kubectl-edit', { 'f:status': {} }, { subresource: 'status' }),
    entry('argocd', ofSpec('version'), { operation: 'Apply' }),
    entry('kubectl-create', ofSpec('version'), { operation: 'Apply' }),
    entry('helm', ofSpec('version')),
  ];
  assert.equal(ownershipBefore('adopt', others, manager), undefined);
  const change = ownershipBefore('adopt', [...others, entry('kubectl-create', ofSpec('etcd'))], manager);
  assert.deepEqual(change?.entries.slice(0, -1), others);
  assert.deepEqual(oursOf(change?.entries), [ofSpec('etcd')]);
});

test('finalizers, owners and marks of our group stay with kubectl: no document says them', () => {
  const metadata = {
    'f:annotations': { '.': {}, 'f:etcd.ratchet.dev/paused': {}, 'f:example.com/note': {} },
    'f:labels': { 'f:x.etcd.ratchet.dev/mark': {} },
    'f:finalizers': { 'v:"example.com/hold"': {} },
  };
  const change = ownershipBefore('adopt', [entry('kubectl-edit', { 'f:metadata': metadata })], manager);
  assert.deepEqual(oursOf(change?.entries), [{ 'f:metadata': { 'f:annotations': { 'f:example.com/note': {} } } }]);
  const { 'f:finalizers': finalizers, 'f:labels': labels } = metadata;
  const left = { 'f:annotations': { 'f:etcd.ratchet.dev/paused': {} }, 'f:labels': labels, 'f:finalizers': finalizers };
  assert.deepEqual(change?.entries[0]?.fieldsV1, { 'f:metadata': left });
  const onlyMarks = { 'f:metadata': { 'f:annotations': { 'f:etcd.ratchet.dev/paused': {} } } };
  assert.equal(ownershipBefore('adopt', [entry('kubectl-edit', onlyMarks)], manager), undefined);
});

test('once an object is the fleet’s, changes by hand become its own no more', () => {
  const ours = entry(manager, ofSpec('replicas'), { operation: 'Apply' });
  assert.equal(ownershipBefore('update', [ours, entry('kubectl-edit', ofSpec('etcd'))], manager), undefined);
});

test('a fleet inherits from kubectl only what no fleet had before', () => {
  const label = { 'f:metadata': { 'f:labels': { 'f:etcd.ratchet.dev/fleet': {} } } };
  const former = entry('etcd-ratchet-fleet-a-b', { ...label, ...ofSpec('replicas') }, { operation: 'Apply' });
  const kept = entry('kubectl-edit', ofSpec('volumeRetention'));
  const change = ownershipBefore('takeOver', [former, kept], manager);
  assert.deepEqual(oursOf(change?.entries), [{ ...label, ...ofSpec('replicas') }]);
  assert.deepEqual([change?.entries[0], change?.from], [kept, []]);
  for (const name of ['etcd-ratchet-fleet-a-b', manager]) {
    const before = entry(name, ofSpec('replicas'), { operation: 'Apply' });
    assert.equal(ownershipBefore('adopt', [before, kept], manager), undefined, 'its label was taken away by hand');
  }
});

test('of the marks of our group, the one that a document may have is inherited', () => {
  const marks = { 'f:metadata': { 'f:annotations': { 'f:etcd.ratchet.dev/prune': {} } } };
  const change = ownershipBefore('adopt', [entry('kubectl-create', marks)], manager);
  assert.deepEqual([oursOf(change?.entries), change?.entries.length], [[marks], 1]);
});

test('thousands of owners and fields take no time', () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `k${index}`);
  const deep = { 'f:spec': { 'f:podTemplate': { 'f:spec': ofSpec(...names)['f:spec'] } } };
  const others = names.slice(0, 4000).map((name) => entry(name, ofSpec(name), { operation: 'Apply' }));
  const spec = { podTemplate: { spec: Object.fromEntries(names.map((name) => [name, 1])) } };
  const live = { ...clusterOf('orders', { owner: '' }), kind: 'EtcdCluster' as const, spec: spec as never };
  const started = performance.now();
  const ownership = ownershipBefore('adopt', [...others, entry('kubectl-create', deep)], manager) ?? assert.fail();
  const gone = goneFrom({ spec: specOf('orders'), live: live as never, ownership }, manager);
  assert.equal(gone.length, 10_000);
  assert.deepEqual(without(live, gone).spec, undefined);
  const told = {
    ...live,
    metadata: {
      ...live.metadata,
      annotations: { 'etcd.ratchet.dev/fleet-name': 'platform/production' },
      managedFields: ownership.entries,
    },
  };
  assert.equal(driftOf('EtcdCluster', told as never), undefined);
  assert.ok(performance.now() - started < 2_000, `${performance.now() - started} ms`);
});

test('what goes is what the document does not have, and what no other manager claims', () => {
  const live = clusterOf('orders', { owner: '' });
  const spec = { ...live.spec, suspend: false, etcd: { snapshotCount: 9, heartbeatInterval: '1s' }, podTemplate: {} };
  const document = {
    ...specOf('orders'),
    object: { metadata: live.metadata, spec: { replicas: 3, version: '3.6.16' } },
  };
  const written = {
    'f:spec': {
      'f:replicas': {},
      'f:suspend': {},
      'f:etcd': { '.': {}, 'f:snapshotCount': {}, 'f:heartbeatInterval': {} },
    },
  };
  const argocd = entry('argocd', { 'f:spec': { 'f:etcd': { 'f:heartbeatInterval': {} } } }, { operation: 'Apply' });
  const ownership = ownershipBefore('adopt', [entry('kubectl-create', written), argocd], manager) ?? assert.fail();
  const gone = ['spec', 'etcd', 'snapshotCount'];
  assert.deepEqual(droppedBy(document, ownership, manager), [['spec', 'suspend'], gone]);
  const news = { spec: document, live: { ...live, kind: 'EtcdCluster' as const, spec } as never, ownership };
  assert.deepEqual(goneFrom(news, manager), [gone], 'a default comes back');
});

test('Git takes from hands only the fields that its document sets', () => {
  const edited = { '.': {}, 'f:replicas': {}, 'f:etcd': { '.': {}, 'f:snapshotCount': {}, 'f:heartbeatInterval': {} } };
  const metadata = { 'f:finalizers': { '.': {}, 'v:"example.com/hold"': {} } };
  const hand = entry('kubectl-edit', { 'f:metadata': metadata, 'f:spec': edited });
  const scaled = entry('kubectl', ofSpec('replicas'), { subresource: 'scale' });
  const kept = [
    entry('argocd', ofSpec('replicas'), { operation: 'Apply' }),
    entry('etcd-ratchet', { 'f:status': {} }, { subresource: 'status' }),
  ];
  const live = clusterOf('orders');
  const document = { metadata: live.metadata, spec: { replicas: 3, etcd: { heartbeatInterval: '1s' } } };
  const left = { '.': {}, 'f:etcd': { '.': {}, 'f:snapshotCount': {} } };
  assert.deepEqual(withoutHands([...kept, hand, scaled], document), [
    ...kept,
    { ...hand, fieldsV1: { 'f:metadata': metadata, 'f:spec': left } },
  ]);
  assert.deepEqual(withoutHands([scaled], document), [{}], 'an empty list would mean no change');
  assert.equal(withoutHands([...kept, entry('kubectl-edit', { 'f:spec': left })], document), undefined);
});

test('an event tells once what the fleet inherited, also of an object without a namespace', async () => {
  const kube = createFakeKube();
  const { namespace: _, ...metadata } = clusterOf('workers', { owner: '' }).metadata;
  const live = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdNodePolicy' as const, metadata, spec: { a: 1 } };
  const ownership = ownershipBefore('adopt', [entry('kubectl-create', ofSpec('a'))], manager) ?? assert.fail();
  const news = { spec: specOf('workers'), live: live as never, ownership };
  for (const _time of [1, 2]) await writeInherited(kube, fleetWith(), news, AbortSignal.timeout(5_000));
  const [event, ...more] = kube.stored<Event>(resources.events);
  assert.deepEqual([event?.metadata.namespace, event?.regarding?.kind, more], ['default', 'EtcdNodePolicy', []]);
  assert.equal(
    event?.note,
    'what kubectl-create wrote of it belongs to fleet platform/production from now on; what workers.yaml does not list is removed: spec.a',
  );
});

test('a field is taken out with what held nothing else', () => {
  const spec = { spec: { etcd: { a: 1 }, tls: { mode: 'x', b: 2 } } };
  assert.deepEqual(without(spec, [['spec', 'etcd', 'a']]), { spec: { tls: { mode: 'x', b: 2 } } });
  assert.deepEqual(without(spec, [['spec', 'tls', 'b']]), { spec: { etcd: { a: 1 }, tls: { mode: 'x' } } });
  assert.deepEqual(without(spec, [['spec', 'constructor', 'name']]), spec);
  assert.equal(valueAt(spec, ['spec', 'constructor']), undefined);
});
