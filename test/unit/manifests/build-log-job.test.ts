import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logJob } from '../../../manifests/render/log-job.ts';
import { podSelector } from '../../../manifests/render/names.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { peerOf } from './build-fixtures.ts';

const order = { image: 'registry.example/us:v1', situation: '0123456789abcdef' };
const job = logJob(peerOf(), { ...order, node: 'node-a' });
const { spec, metadata } = job.spec.template;

test('it is run once, ends by itself, and is deleted by itself or with its peer', () => {
  const { backoffLimit, activeDeadlineSeconds, ttlSecondsAfterFinished } = job.spec;
  assert.deepEqual([backoffLimit, activeDeadlineSeconds, ttlSecondsAfterFinished], [0, 180, 3600]);
  assert.equal(spec.restartPolicy, 'Never');
  assert.equal(job.metadata.ownerReferences?.[0]?.uid, 'peer-uid');
  assert.equal(job.metadata.name, 'orders-1-log-012345');
});

test('its pod is found by no Service and no budget, and no StatefulSet adopts it', () => {
  const found = metadata?.labels ?? {};
  assert.ok(Object.entries(podSelector('orders')).some(([key, value]) => found[key] !== value));
  const { matchLabels } = statefulSet(peerOf()).spec.selector;
  assert.ok(Object.entries(matchLabels).some(([key, value]) => found[key] !== value));
});

test('it has one container, which can write nothing, with the rights of the member', () => {
  const [container, ...more] = spec.containers;
  assert.deepEqual([more, spec.initContainers, spec.topologySpreadConstraints], [[], undefined, undefined]);
  assert.deepEqual(container?.volumeMounts, [{ name: 'data', mountPath: '/var/lib/etcd', readOnly: true }]);
  assert.equal(container?.securityContext?.readOnlyRootFilesystem, true);
  assert.deepEqual(container?.args, ['--data=/var/lib/etcd/data']);
  assert.deepEqual(spec.volumes, [{ name: 'data', persistentVolumeClaim: { claimName: 'orders-1' } }]);
  const ofMember = statefulSet(peerOf()).spec.template.spec;
  assert.deepEqual(spec.securityContext, ofMember.securityContext);
  assert.equal(spec.automountServiceAccountToken, false);
});

test('it runs where the member’s pod is, also on a node that is cordoned, and else anywhere', () => {
  const values = ['node-a'];
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values }] }];
  assert.deepEqual(spec.affinity, {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  });
  assert.ok(spec.tolerations?.some(({ key }) => key === 'node.kubernetes.io/unschedulable'));
  assert.equal(logJob(peerOf(), order).spec.template.spec.affinity, undefined);
});

test('what a template adds beside etcd does not run, and its room is not asked for twice', () => {
  const given = {
    podTemplate: {
      spec: {
        initContainers: [{ name: 'chown', image: 'busybox' }],
        containers: [{ name: 'sidecar', image: 'proxy' }],
        affinity: { podAntiAffinity: {} },
        priorityClassName: 'high',
        securityContext: { fsGroup: 7, fsGroupChangePolicy: 'Always' },
      },
    },
    resources: { requests: { cpu: '4', memory: '16Gi' }, limits: { memory: '16Gi' } },
  };
  const made = logJob(peerOf(given as never), order).spec.template.spec;
  assert.deepEqual([made.initContainers, made.affinity, made.containers.length], [undefined, undefined, 1]);
  assert.deepEqual(made.securityContext?.fsGroupChangePolicy, 'OnRootMismatch');
  assert.equal(made.securityContext?.fsGroup, 7);
  assert.equal(made.priorityClassName, 'high', 'the same as the member’s: neither preempts the other');
  assert.deepEqual(made.containers[0]?.resources, {
    requests: { cpu: '1000m', memory: '512Mi' },
    limits: { memory: '512Mi' },
  });
});
