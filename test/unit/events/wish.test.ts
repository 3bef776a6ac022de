import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Wish, wishOf } from '../../../functions/serve/events/wish.ts';
import { tasksOf } from '../../../functions/serve/events.ts';

const update = 'dev.knative.apiserver.resource.update';
const ours = { 'etcd.ratchet.dev/cluster': 'orders' };

function object(kind: string, name: string, more: object = {}, metadata: object = {}) {
  return { kind, metadata: { namespace: 'payments', name, uid: `uid-${name}`, labels: ours, ...metadata }, ...more };
}

function pod(ready: boolean, metadata: object = {}) {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  return object('Pod', 'orders-1-0', { status: { phase: 'Running', conditions } }, metadata);
}

function written(...entries: readonly (readonly [time: string, subresource?: string])[]) {
  return {
    managedFields: entries.map(([time, subresource]) => ({ manager: 'm', time, ...(subresource && { subresource }) })),
  };
}

const steps = (data: unknown, type = update) => wishOf({ type, data }).kind === 'step';

for (const [what, data, isWorth] of [
  ['a pod that is ready', pod(true), true],
  ['a pod that is on its way', pod(false), false],
  ['a pod that leaves', pod(false, { deletionTimestamp: '2026-05-01T10:00:00Z' }), true],
  ['somebody else’s pod', { ...pod(true), metadata: { namespace: 'payments', name: 'web', uid: 'u' } }, false],
  ['a claim that is bound', object('PersistentVolumeClaim', 'orders-1', { status: { phase: 'Bound' } }), true],
  ['a claim that is not', object('PersistentVolumeClaim', 'orders-1', { status: { phase: 'Pending' } }), false],
  [
    'a spec that changed',
    object('EtcdCluster', 'orders', {}, { generation: 2, ...written(['10:01'], ['10:00', 'status']) }),
    true,
  ],
  [
    'a status that was written',
    object('EtcdCluster', 'orders', {}, { generation: 2, ...written(['10:00'], ['10:01', 'status']) }),
    false,
  ],
  [
    'both within one second',
    object('EtcdCluster', 'orders', {}, { generation: 2, ...written(['10:01'], ['10:01', 'status']) }),
    true,
  ],
  ['the status of a peer', object('EtcdPeer', 'orders-1', {}, written(['10:00'], ['10:01', 'status'])), false],
  ['a new peer', object('EtcdPeer', 'orders-1', {}, written(['10:00'])), true],
  ['no object at all', undefined, false],
  ['a text', 'orders', false],
  ['names of the wrong kind', object('EtcdCluster', 'orders', {}, { name: { $ne: 1 } }), false],
  ['a name that is none', object('EtcdCluster', '../../secrets'), false],
  ['a prototype', JSON.parse('{"__proto__": {"kind": "EtcdCluster"}}'), false],
] as const) {
  test(`${what} is ${isWorth ? '' : 'not '}worth a step`, () => {
    assert.equal(steps(data), isWorth);
    assert.equal(steps(JSON.stringify(data)), isWorth, 'also as text');
  });
}

test('a step is of the cluster that the label names, in the object’s namespace', () => {
  const wish = wishOf({ type: update, data: pod(true) });
  assert.ok(wish.kind === 'step');
  assert.equal(wish.cluster, 'payments/orders');
});

test('a deleted cluster needs no step; a deleted pod does', () => {
  const type = 'dev.knative.apiserver.resource.delete';
  assert.equal(steps(object('EtcdCluster', 'orders'), type), false);
  assert.equal(steps(pod(false), type), true);
});

for (const [kind, name, cluster] of [
  ['EtcdCluster', 'orders', 'payments/orders'],
  ['EtcdPeer', 'orders-eu-12', 'payments/orders-eu'],
  ['Pod', 'orders-1-0', 'payments/orders'],
  ['Pod', 'web', undefined],
  ['Node', 'a', undefined],
] as const) {
  test(`a reference to ${kind} ${name} is ${cluster ? `about ${cluster}` : 'ignored'}`, () => {
    const wish = wishOf({ type: 'dev.knative.apiserver.ref.update', data: { kind, name, namespace: 'payments' } });
    assert.equal(wish.kind === 'step' ? wish.cluster : undefined, cluster);
  });
}

test('a clock’s event is a tick, a follow-up what it names, and the rest nothing', () => {
  const type = 'dev.ratchet.etcd.follow-up';
  assert.deepEqual(wishOf({ type: 'dev.knative.sources.ping' }), { kind: 'tick' });
  assert.deepEqual(wishOf({ type, data: { clusters: ['a/b'] } }), { kind: 'follow-up', clusters: ['a/b'] });
  for (const data of [undefined, {}, { clusters: 'a/b' }, { clusters: [1] }, { clusters: ['a/b', '../x'] }]) {
    assert.equal(wishOf({ type, data }).kind, 'nothing');
  }
  assert.equal(wishOf({ type: 'com.example.other', data: pod(true) }).kind, 'nothing');
});

test('a batch is few passes: a tick covers all, the steps are one, the follow-ups another', () => {
  const step = (cluster: string): Wish => ({ kind: 'step', cluster });
  assert.deepEqual(tasksOf([step('a/b'), { kind: 'tick' }]), [{ kind: 'tick', clusters: [] }]);
  assert.deepEqual(tasksOf([step('a/c'), step('a/b'), step('a/c')]), [{ kind: 'step', clusters: ['a/b', 'a/c'] }]);
  assert.deepEqual(
    tasksOf([
      { kind: 'follow-up', clusters: ['a/b'] },
      { kind: 'follow-up', clusters: [] },
    ]),
    [{ kind: 'follow-up', clusters: [] }],
  );
  assert.deepEqual(tasksOf([{ kind: 'nothing', because: '' }]), []);
});

test('a reference whose namespace is no text is of no interest, and no error', () => {
  const data = { kind: 'Pod', namespace: { toString: 1 }, name: 'orders-0-0' };
  assert.equal(wishOf({ type: 'dev.knative.apiserver.ref.update', data }).kind, 'nothing');
});
