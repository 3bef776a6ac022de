import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, Pod } from '../../../manifests/kube-types.ts';
import { podView } from '../../../reconcile/cluster/observe/slots.ts';

const startedAt = '2026-01-02T03:00:00Z';
const oom = { exitCode: 137, reason: 'OOMKilled', startedAt, finishedAt: '2026-01-02T03:01:00Z' };

function viewOf(etcd: Partial<ContainerStatus>, rest: Partial<NonNullable<Pod['status']>> = {}) {
  const status = { name: 'etcd', ready: false, restartCount: 0, ...etcd };
  return podView(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'orders-0-0', namespace: 'shop', uid: 'p' },
      spec: {
        nodeName: 'node-1',
        initContainers: [{ name: 'prepare' }],
        containers: [{ name: 'etcd', resources: { limits: { memory: '256Mi' } } }, { name: 'beside' }],
      },
      status: { containerStatuses: [status], ...rest },
    },
    undefined,
  );
}

test('a container tells since when it runs, how it ended before, and its memory limit', () => {
  const { container } = viewOf({ restartCount: 3, state: { running: { startedAt } }, lastState: { terminated: oom } });
  assert.deepEqual(container.startedAt, new Date(startedAt));
  assert.deepEqual(container.exit, { code: 137, reason: 'OOMKilled' });
  assert.equal(container.memoryLimit, '256Mi');
});

test('one that waits for its next start tells of its last run', () => {
  const waits = { waiting: { reason: 'CrashLoopBackOff' } };
  const { container } = viewOf({ restartCount: 3, state: waits, lastState: { terminated: oom } });
  assert.equal(container.reason, 'CrashLoopBackOff');
  assert.deepEqual(container.startedAt, new Date(startedAt));
  assert.deepEqual(container.exit, { code: 137, reason: 'OOMKilled' });
});

test('one that never ran has no start and no end', () => {
  const { container } = viewOf({ state: { waiting: { reason: 'ContainerCreating' } } });
  assert.equal(container.startedAt, undefined);
  assert.equal(container.exit, undefined);
});

test('a pod that is over as a whole says why', () => {
  assert.equal(viewOf({}, { phase: 'Failed', reason: 'Evicted' }).failed, 'Evicted');
  assert.equal(viewOf({}, { phase: 'Running' }).failed, undefined);
});

test('an init container that fails is told, one that has done its work is not', () => {
  const waits = { name: 'etcd', ready: false, restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } };
  const init = (state: ContainerStatus['state'], ready = false) =>
    viewOf(waits, {
      containerStatuses: [waits],
      initContainerStatuses: [{ name: 'prepare', ready, restartCount: 2, ...(state && { state }) }],
    }).beside;
  assert.deepEqual(init({ terminated: { exitCode: 3, reason: 'Error' } }), {
    name: 'prepare',
    reason: 'Error',
    restarts: 2,
    exit: { code: 3, reason: 'Error' },
  });
  assert.equal(init({ waiting: { reason: 'ImagePullBackOff' } })?.reason, 'ImagePullBackOff');
  assert.equal(init({ terminated: { exitCode: 0, reason: 'Completed' } }, true), undefined);
  assert.equal(init({ waiting: { reason: 'PodInitializing' } }), undefined);
});
