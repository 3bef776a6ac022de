import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ContainerPhase,
  type ContainerRole,
  type ContainerView,
  type PodView,
  podPhase,
  shapePodStatus,
} from '../../support/cluster/node/status.ts';
import type { Pod } from '../../support/cluster/node/wire.ts';

const running: ContainerPhase = { kind: 'running', startedAt: 0 };
const waiting: ContainerPhase = { kind: 'waiting', reason: 'ContainerCreating' };
const ended = (exitCode: number): ContainerPhase => ({
  kind: 'terminated',
  terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' },
});

function container(
  phase: ContainerPhase,
  role: ContainerRole = 'main',
  more: Partial<ContainerView> = {},
): ContainerView {
  const ready = phase.kind === 'running';
  return {
    spec: { name: role },
    role,
    phase,
    last: undefined,
    restarts: 0,
    containerID: '',
    imageID: '',
    started: ready,
    ready,
    ...more,
  };
}

function view(containers: ContainerView[], restartPolicy = 'Always', ending = false): PodView {
  const pod = {
    metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 2 },
    spec: { containers: [], restartPolicy },
  } as Pod;
  const place = { podIPs: ['10.244.1.2'], hostIPs: ['10.244.1.1'], nodeName: 'node-1' };
  return { pod, place, startedAt: 0, containers, ending };
}

const crashing = container({ kind: 'waiting', reason: 'CrashLoopBackOff' }, 'main', { last: { exitCode: 1 } });
const phases: { says: string; of: PodView; is: string }[] = [
  { says: 'nothing runs yet', of: view([container(waiting)]), is: 'Pending' },
  { says: 'one of two runs', of: view([container(running), container(waiting)]), is: 'Pending' },
  { says: 'all run', of: view([container(running)]), is: 'Running' },
  { says: 'one waits for its restart', of: view([crashing]), is: 'Running' },
  { says: 'an init container runs', of: view([container(running, 'init'), container(waiting)]), is: 'Pending' },
  {
    says: 'an init container failed and may try again',
    of: view([container(ended(1), 'init'), container(waiting)], 'OnFailure'),
    is: 'Pending',
  },
  {
    says: 'an init container failed for good',
    of: view([container(ended(1), 'init'), container(waiting)], 'Never'),
    is: 'Failed',
  },
  { says: 'done, and not to be started again', of: view([container(ended(0))], 'Never'), is: 'Succeeded' },
  { says: 'done on first try', of: view([container(ended(0))], 'OnFailure'), is: 'Succeeded' },
  { says: 'failed, may try again', of: view([container(ended(1))], 'OnFailure'), is: 'Running' },
  { says: 'failed for good', of: view([container(ended(1))], 'Never'), is: 'Failed' },
  { says: 'one of two failed for good', of: view([container(ended(0)), container(ended(1))], 'Never'), is: 'Failed' },
  { says: 'stopped between two restarts', of: view([container(ended(0))]), is: 'Running' },
  { says: 'deleted, stopped well', of: view([container(ended(0))], 'Always', true), is: 'Succeeded' },
  { says: 'deleted, killed', of: view([container(ended(137))], 'Always', true), is: 'Failed' },
];

for (const { says, of, is } of phases) {
  test(`phase: ${says} → ${is}`, () => assert.equal(podPhase(of), is));
}

const conditionOf = (status: ReturnType<typeof shapePodStatus>, type: string) =>
  status.conditions?.find((condition) => condition.type === type);

test('a container that is not ready is named in the conditions', () => {
  const status = shapePodStatus(view([container(running, 'main', { ready: false })]), undefined, new Date(5000));
  assert.equal(conditionOf(status, 'Ready')?.status, 'False');
  assert.equal(conditionOf(status, 'Ready')?.reason, 'ContainersNotReady');
  assert.equal(conditionOf(status, 'ContainersReady')?.message, 'containers with unready status: [main]');
  assert.equal(conditionOf(status, 'Initialized')?.status, 'True');
});

test('a condition keeps the time of its last change', () => {
  const first = shapePodStatus(view([container(running)]), undefined, new Date(5000));
  const second = shapePodStatus(view([container(running)]), first, new Date(9000));
  assert.equal(conditionOf(second, 'Ready')?.lastTransitionTime, '1970-01-01T00:00:05Z');
  const third = shapePodStatus(view([container(running, 'main', { ready: false })]), second, new Date(9000));
  assert.equal(conditionOf(third, 'Ready')?.lastTransitionTime, '1970-01-01T00:00:09Z');
});

test('a finished pod is not ready because it is completed', () => {
  const status = shapePodStatus(view([container(ended(0), 'main', { ready: false })], 'Never'), undefined, new Date(0));
  assert.equal(conditionOf(status, 'Ready')?.reason, 'PodCompleted');
  assert.equal(status.phase, 'Succeeded');
});

test('what never ran has no lastState and no restarts', () => {
  const [status] = shapePodStatus(view([container(waiting)]), undefined, new Date(0)).containerStatuses ?? [];
  assert.deepEqual(status?.lastState, {});
  assert.equal(status?.restartCount, 0);
  assert.deepEqual(status?.state, { waiting: { reason: 'ContainerCreating' } });
});
