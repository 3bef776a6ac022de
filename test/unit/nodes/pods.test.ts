import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { labels, restorePodLabels } from '../../../manifests/render/names.ts';
import { jobSeen, podsSeen } from '../../../reconcile/nodes/pods.ts';
import { healthy } from '../cluster/observations.ts';
import { policyOf } from './seen.ts';

const around = {
  policy: policyOf(),
  clusters: [],
  leftOut: new Map(),
  holder: { uid: 'holder' },
  rebootsIn: 'etcd-ratchet-reboots',
};

const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'job', controller: true };

function podOfJob(found: Readonly<Record<string, string>>): Pod {
  return {
    metadata: { namespace: 'default', name: 'pod', uid: 'pod', labels: found, ownerReferences: [owner] },
    spec: { containers: [] },
  };
}

test('a pod that bears our label blocks where its cluster can not be seen', () => {
  const leftOut = new Map([['default', { bytes: 2, plural: 'configmaps', mostBytes: 1 }]]);
  const blocks = (found: Readonly<Record<string, string>>) =>
    podsSeen([podOfJob(found)], { ...around, leftOut })[0]?.blocks;
  assert.deepEqual([{ [labels.managedBy]: 'etcd-ratchet' }, {}].map(blocks), [true, false]);
});

test('the pod of a backup or a restore blocks, and that of any other Job does not', () => {
  const backup = { [labels.managedBy]: 'etcd-ratchet', [labels.name]: 'etcd-backup' };
  const others = [{}, { [labels.name]: 'etcd-backup' }, { ...backup, [labels.name]: 'etcd-ratchet' }];
  const blocking = (found: Readonly<Record<string, string>>) => podsSeen([podOfJob(found)], around)[0]?.blocks;
  assert.deepEqual([backup, restorePodLabels('orders')].map(blocking), [true, true]);
  assert.deepEqual(others.map(blocking), [false, false, false]);
  const made = podOfJob(backup);
  for (const other of [{ kind: 'ReplicaSet' }, { controller: false }]) {
    const relay = { ...made, metadata: { ...made.metadata, ownerReferences: [{ ...owner, ...other }] } };
    assert.equal(podsSeen([relay], around)[0]?.blocks, false);
  }
});

test('each pod is what its controller makes of it, and one that has ended is not seen', () => {
  const ours = { [labels.managedBy]: 'etcd-ratchet', [labels.cluster]: 'orders' };
  const { cluster } = healthy(1);
  const kindOf = (metadata: Partial<Pod['metadata']>, controller?: string) => {
    const owners = controller === undefined ? [] : [{ ...owner, kind: controller }];
    const made = podOfJob(ours);
    const pod = { ...made, metadata: { ...made.metadata, namespace: 'shop', ownerReferences: owners, ...metadata } };
    return podsSeen([pod], { ...around, clusters: [cluster] })[0]?.kind;
  };
  assert.equal(kindOf({}, 'StatefulSet'), 'member');
  assert.equal(kindOf({}, 'ReplicaSet'), 'managed');
  const ghost = { labels: { ...ours, [labels.cluster]: 'ghost' } };
  for (const stranger of [{ labels: { [labels.cluster]: 'orders' } }, { namespace: 'other' }, ghost])
    assert.equal(kindOf(stranger, 'StatefulSet'), 'managed');
  assert.equal(kindOf({}), 'unmanaged');
  assert.equal(kindOf({}, 'DaemonSet'), 'stays');
  assert.equal(kindOf({ annotations: { 'kubernetes.io/config.mirror': 'x' } }), 'stays');
  assert.equal(kindOf({ uid: 'holder' }, 'ReplicaSet'), 'stays');
  assert.equal(kindOf({ namespace: 'etcd-ratchet-reboots' }, 'Job'), 'stays');
  for (const phase of ['Succeeded', 'Failed'] as const)
    assert.deepEqual(podsSeen([{ ...podOfJob({}), status: { phase } }], around), []);
});

test('a pod blocks that spec.blockedBy names by all of its labels, and in its namespace', () => {
  const isBlocking = (found: Readonly<Record<string, string>>, namespace?: string) => {
    const blockedBy = [{ labels: found, ...(namespace !== undefined && { namespace }) }];
    return podsSeen([podOfJob({ app: 'batch' })], { ...around, policy: policyOf({ blockedBy }) })[0]?.blocks;
  };
  assert.deepEqual([isBlocking({ app: 'batch' }), isBlocking({ app: 'batch' }, 'default')], [true, true]);
  assert.deepEqual(
    [isBlocking({ app: 'batch' }, 'other'), isBlocking({}), isBlocking({ app: 'x' })],
    [false, false, false],
  );
});

test('a Job is under way until it says that it is over', () => {
  const stateOf = (conditions: NonNullable<Job['status']>['conditions'] = []) =>
    jobSeen({ metadata: { name: 'job', uid: 'u' }, spec: {}, status: { conditions } } as unknown as Job).state;
  const is = (type: string, status = 'True') => stateOf([{ type, status }]);
  assert.deepEqual(
    [stateOf(), is('Complete'), is('Failed'), is('Failed', 'False')],
    ['under-way', 'done', 'failed', 'under-way'],
  );
});
