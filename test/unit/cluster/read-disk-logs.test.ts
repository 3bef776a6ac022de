import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { logPodLabels } from '../../../manifests/render/names.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { logsToRead } from '../../../reconcile/cluster/know/recovery/disk-logs.ts';
import { lossOf } from '../../../reconcile/cluster/know/recovery/lost.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { withDiskLogs } from '../../../reconcile/cluster/observe/read-disk-logs.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { diskLogText, unreadableText } from '../../../reconcile/jobs/disk-log.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { all, clusterId, healthy, memberId, namespace, silent, withEndpoint, without } from './observations.ts';

/** One of three is left, and tells nothing. */
const gone = all(without('volume', 'pod'), withEndpoint(silent));
const seen: Observation = healthy(3, {
  membership: { kind: 'unknown', cause: 'no quorum' },
  slots: { 0: withEndpoint(silent), 1: gone, 2: gone },
});
const loss = lossOf(situate(seen)) ?? assert.fail();
const [order = assert.fail()] = logsToRead(loss);

const controlled = (kind: string, uid: string) => [{ apiVersion: 'v1', kind, name: 'x', uid, controller: true }];
const log = {
  ...{ clusterId, memberId: memberId(0), term: 2n, vote: 0n, commit: 90n },
  ...{ lastTerm: 2n, lastIndex: 95n, consistentIndex: 91n },
};

interface There {
  readonly owner?: string;
  readonly over?: boolean;
  readonly podOf?: string;
  readonly message?: string;
  readonly exitCode?: number;
  /** What else ended in its pod. */
  readonly beside?: string;
  /** Seconds ago. */
  readonly made?: number;
  /** Its pod ended after the pods were listed, and before the Job was read. */
  readonly endedMeanwhile?: true;
}

const jobName = 'batch.kubernetes.io/job-name';

const ended = (name: string, exitCode: number, message: string) => ({
  ...{ name, ready: false, restartCount: 0 },
  state: { terminated: { exitCode, message } },
});

async function viewOf(there?: There, refusal?: KubeError) {
  const kube = createFakeKube();
  const { owner = order.peer.uid, over = false, podOf = 'job', message, exitCode = 0, beside, made = 1 } = there ?? {};
  const creationTimestamp = new Date(seen.at.getTime() - made * 1000).toISOString();
  if (there)
    kube.seed(resources.jobs, {
      metadata: {
        ...{ name: order.job, namespace, uid: 'job', creationTimestamp },
        ownerReferences: controlled('EtcdPeer', owner),
      },
      status: { conditions: over ? [{ type: 'Failed', status: 'True' }] : [] },
    } as unknown as Job);
  const pod = {
    metadata: {
      name: `${order.job}-x`,
      namespace,
      labels: { ...logPodLabels('orders'), [jobName]: order.job },
      ownerReferences: controlled('Job', podOf),
    },
    spec: { containers: [] },
    status: {
      containerStatuses: [
        ...(beside === undefined ? [] : [ended('proxy', 0, beside)]),
        ...(message === undefined ? [] : [ended('read-log', exitCode, message)]),
      ],
    },
  } as unknown as Pod;
  const asked = refusal ? { ...kube, get: () => Promise.reject(refusal) } : kube;
  const isThere = message !== undefined || beside !== undefined;
  if (isThere) kube.seed(resources.pods, pod);
  const running = { ...pod, status: { containerStatuses: [] } };
  const objects = { pods: isThere ? [there?.endedMeanwhile ? running : pod] : [] };
  const { slots } = await withDiskLogs(asked, seen, objects, AbortSignal.timeout(10_000));
  const { job: _, ...view } = slots[0]?.log ?? { job: '' };
  return view;
}

test('what a Job has read on a disk is seen, and that it reads, or is not there', async () => {
  assert.deepEqual(await viewOf(), {});
  assert.deepEqual(await viewOf({}), { kind: 'reading' });
  assert.deepEqual(await viewOf({ message: diskLogText(log) }), { kind: 'read', log });
});

// On a real kubelet: the Job was complete, its pod in the list still ran, and a person was shown less than was known.
test('the answer of a pod that ended between the list of pods and the look at its Job is seen', async () => {
  const there = { over: true, message: diskLogText(log), endedMeanwhile: true } as const;
  assert.deepEqual(await viewOf(there), { kind: 'read', log });
  const of = await viewOf({ ...there, podOf: 'another' });
  assert.equal('kind' in of && of.kind, 'unread');
});

for (const [what, there, why] of [
  ['it says why it can’t', { message: unreadableText('0.wal: damaged'), exitCode: 1 }, /^0\.wal: damaged$/],
  ['it says nothing of ours', { message: 'OK' }, /ended with exit code 0$/],
  ['it failed all the same', { message: diskLogText(log), exitCode: 137 }, /exit code 137$/],
  ['it never started', { over: true }, /ended without an answer: its pod did not start in time, or was deleted$/],
  ['its Job ends for no controller', { made: 361 }, /has not ended in time$/],
  ['it is the log of another member', { message: diskLogText({ ...log, memberId: 'ab' }) }, /of member ab of cluster/],
  ['it is the log of another cluster', { message: diskLogText({ ...log, clusterId: 'ab' }) }, /of cluster ab$/],
  ['the Job is of an earlier peer', { owner: 'earlier', message: diskLogText(log) }, /is not ours$/],
] as const)
  test(`what is on a disk stays unknown where ${what}`, async () => {
    const view = await viewOf(there);
    assert.equal('kind' in view && view.kind, 'unread');
    assert.match('why' in view ? view.why : '', why);
  });

test('only our container answers, and not one that an admission webhook put beside it', async () => {
  const lie = diskLogText({ ...log, commit: 99n });
  assert.deepEqual(await viewOf({ beside: lie, message: diskLogText(log) }), { kind: 'read', log });
  assert.deepEqual(await viewOf({ beside: lie }), { kind: 'reading' });
});

test('an answer of a pod that another Job controls is not believed', async () => {
  assert.deepEqual(await viewOf({ message: diskLogText(log), podOf: 'another' }), { kind: 'reading' });
});

test('a pod that is replaced again and again makes no third Job while two wait', async () => {
  const waiting = (name: string, terminated?: object, phase = 'Pending') => ({
    metadata: { name, namespace, labels: { ...logPodLabels('orders'), [jobName]: name } },
    spec: { containers: [] },
    status: { phase, containerStatuses: [{ ...ended('read-log', 0, ''), state: terminated ? { terminated } : {} }] },
  });
  const among = async (...pods: readonly object[]) => {
    const objects = { pods: pods as readonly Pod[] };
    const { slots } = await withDiskLogs(createFakeKube(), seen, objects, AbortSignal.timeout(10_000));
    return slots[0]?.log;
  };
  const [first, second] = [waiting('orders-0-log-aaaaaa'), waiting('orders-0-log-bbbbbb')];
  const why = 'its pod was replaced while Jobs waited to read its disk';
  assert.deepEqual(await among(first, second), { kind: 'unread', job: order.job, why });
  const evicted = waiting('orders-0-log-bbbbbb', undefined, 'Failed');
  for (const other of [waiting('orders-1-log-bbbbbb'), waiting('orders-0-log-bbbbbb', { exitCode: 0 }), evicted])
    assert.equal(await among(first, other), undefined);
});

test('Jobs that can’t be read are told; a question that may be answered later is asked again', async () => {
  const refused = (kind: 'terminal' | 'retryable') =>
    new KubeError('GET jobs: no', { class: kind, reason: 'Forbidden' });
  assert.deepEqual(await viewOf({}, refused('terminal')), { kind: 'unread', why: 'GET jobs: no' });
  await assert.rejects(viewOf({}, refused('retryable')), /no/);
});

test('while a quorum answers, or may return, nothing is asked', async () => {
  const kube = { ...createFakeKube(), get: () => assert.fail('asked') };
  for (const calm of [healthy(3), healthy(3, { membership: { kind: 'unknown', cause: 'no' } })])
    assert.equal(await withDiskLogs(kube, calm, { pods: [] }, AbortSignal.timeout(10_000)), calm);
});
