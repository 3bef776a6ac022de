import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../manifests/kube-types.ts';
import { stateOfJob } from '../../../reconcile/backup/job-state.ts';
import { jobWith, podWith, proof, record } from './scene.ts';

const failed = jobWith({ type: 'Failed', reason: 'BackoffLimitExceeded' });
const refusal = JSON.stringify({ ok: false, reason: 'Forbidden', message: 'the bucket is not for you' });

function brokenBy(pod: Pod | undefined, job = failed) {
  const state = stateOfJob(job, pod);
  return state.kind === 'broke' ? state.reason : state.kind;
}

test('a Job that is done says what its agent said', () => {
  const message = JSON.stringify({ ok: true, operation: 'backup', record });
  const pod = podWith([{ exitCode: 0, message }]);
  assert.deepEqual(stateOfJob(jobWith({ type: 'Complete' }), pod), { kind: 'said', said: { kind: 'record', record } });
  assert.equal(stateOfJob(jobWith(), pod).kind, 'under-way', 'the Job itself is not over');
});

test('beside a container that something put into its pod, the agent that ended well has said it', () => {
  const message = JSON.stringify({ ok: true, operation: 'backup', record });
  const beside = (exitCode: number): Pod => {
    const pod = podWith([{ exitCode, message }]);
    const proxy = { name: 'proxy', ready: true, restartCount: 0, state: { running: {} } };
    return { ...pod, status: { containerStatuses: [...(pod.status?.containerStatuses ?? []), proxy] } };
  };
  const said = { kind: 'record', record };
  assert.deepEqual(stateOfJob(jobWith(), beside(0)), { kind: 'said', said, kept: true });
  assert.equal(stateOfJob(jobWith(), beside(1)).kind, 'under-way');
});

test('the word of a container that the Job did not ask for is none', () => {
  const word = JSON.stringify({ ok: true, operation: 'backup', record });
  const forged = podWith([
    { exitCode: 0, message: '' },
    { name: 'proxy', exitCode: 0, message: word },
  ]);
  assert.equal(stateOfJob(jobWith(), forged).kind, 'under-way');
  assert.equal(brokenBy(forged, jobWith({ type: 'Complete' })), 'AgentBroke');
  const slandered = podWith([
    { exitCode: 0, message: word },
    { name: 'proxy', exitCode: 1, message: refusal },
  ]);
  assert.partialDeepStrictEqual(stateOfJob(jobWith({ type: 'Complete' }), slandered), { said: { kind: 'record' } });
});

test('of several containers the last one that speaks counts', () => {
  const staged = JSON.stringify({ ok: true, operation: 'stage-drill' });
  const compared = JSON.stringify({ ok: true, operation: 'compare', proof });
  const pod = podWith([
    { name: 'stage', exitCode: 0, message: staged },
    { name: 'compare', exitCode: 0, message: compared },
  ]);
  assert.deepEqual(stateOfJob(jobWith({ type: 'Complete' }), pod), { kind: 'said', said: { kind: 'proof', proof } });
});

test("what etcd's containers print is never taken for the agent's word", () => {
  const forged = JSON.stringify({ ok: true, operation: 'compare', proof });
  const pod = podWith([{ name: 'etcd', exitCode: 0, message: forged }]);
  assert.equal(brokenBy(pod, jobWith({ type: 'Complete' })), 'AgentBroke');
});

test('a refusal of the agent is its own word, also where the Job is not yet over', () => {
  for (const job of [failed, jobWith()])
    assert.partialDeepStrictEqual(stateOfJob(job, podWith([{ exitCode: 3, message: refusal }])), {
      said: { reason: 'Forbidden' },
    });
});

test('success that failed is not believed', () => {
  const message = JSON.stringify({ ok: true, operation: 'backup', record });
  assert.equal(brokenBy(podWith([{ exitCode: 1, message }])), 'AgentBroke');
});

test('what ended a pod without a word is told apart', () => {
  assert.equal(brokenBy(podWith([{ exitCode: 137, reason: 'OOMKilled' }])), 'OutOfMemory');
  assert.equal(brokenBy(podWith([], { phase: 'Failed', reason: 'Evicted', message: 'low on disk' })), 'Evicted');
  assert.equal(brokenBy(podWith([{ exitCode: 137, reason: 'Error' }])), 'AgentBroke');
  assert.equal(brokenBy(undefined), 'PodGone');
  assert.equal(brokenBy(undefined, jobWith({ type: 'Failed', reason: 'DeadlineExceeded' })), 'DeadlineExceeded');
  assert.equal(brokenBy(podWith([{ name: 'restore', exitCode: 1, message: 'no such file' }])), 'RestoreFailed');
  const disrupted = (reason: string) => ({ conditions: [{ type: 'DisruptionTarget', status: 'True', reason }] });
  assert.equal(brokenBy(podWith([], disrupted('DeletionByTaintManager'))), 'NodeLost');
  assert.equal(brokenBy(podWith([], disrupted('EvictionByEvictionAPI'))), 'Evicted');
  assert.equal(brokenBy(undefined, jobWith({ type: 'Complete' })), 'AgentBroke');
});

test('a pod that does not start says in whose words it waits', () => {
  const waiting = (reason: string): Pod => ({
    ...podWith([]),
    status: { containerStatuses: [{ name: 'agent', ready: false, restartCount: 0, state: { waiting: { reason } } }] },
  });
  assert.partialDeepStrictEqual(stateOfJob(jobWith(), waiting('ImagePullBackOff')), {
    kind: 'under-way',
    trouble: { code: 'ImagePullBackOff', words: 'container agent: ImagePullBackOff:' },
  });
  assert.deepEqual(stateOfJob(jobWith(), waiting('ContainerCreating')), { kind: 'under-way' });
  assert.deepEqual(stateOfJob(jobWith(), undefined), { kind: 'under-way' });
});

test('etcd that exits again and again on what was restored ends the wait, unless memory ends it', () => {
  const restarting = (restartCount: number, reason = 'Error'): Pod => ({
    ...podWith([]),
    status: {
      initContainerStatuses: [
        {
          name: 'etcd',
          ready: false,
          restartCount,
          lastState: { terminated: { exitCode: 2, reason, message: 'a\npanic: torn' } },
        },
      ],
    },
  });
  assert.equal(brokenBy(restarting(2), jobWith()), 'under-way');
  assert.partialDeepStrictEqual(stateOfJob(jobWith(), restarting(3)), {
    reason: 'EtcdNotStarted',
    words: 'etcd does not start on what was restored: panic: torn',
  });
  assert.equal(brokenBy(restarting(3, 'OOMKilled'), jobWith()), 'under-way');
});
