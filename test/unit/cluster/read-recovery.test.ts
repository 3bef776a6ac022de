import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Event, Job, Pod } from '../../../manifests/kube-types.ts';
import { recoveryPodLabels, restorePodLabels } from '../../../manifests/render/names.ts';
import { readRecovery } from '../../../reconcile/cluster/observe/read-recovery.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { healthy, namespace, withRecord } from './observations.ts';

const job = {
  metadata: { name: 'orders-0-recovery', namespace, uid: 'job', creationTimestamp: '2026-01-02T03:00:00Z' },
} as unknown as Job;
const refused: Event = {
  metadata: { name: 'refused', namespace },
  reason: 'FailedCreate',
  note: 'exceeded quota: small',
  deprecatedLastTimestamp: '2026-01-02T03:00:01Z',
  regarding: { uid: 'job' },
};

/** Why the Job of a recovery has no pod, so long after it was made. */
async function toldAfter(seconds: number): Promise<unknown> {
  const kube = createFakeKube();
  kube.seed(resources.jobs, job);
  kube.seed(resources.events, refused);
  const recovery = { id: '0123456789ab', attempt: 1, lastSeenOn: {} };
  const { slots } = healthy(1, { slots: { 0: withRecord({ state: 'recovering', recovery }) } });
  const cluster = { metadata: { name: 'orders', namespace } } as EtcdCluster;
  const at = new Date(Date.parse('2026-01-02T03:00:00Z') + seconds * 1000);
  const view = await readRecovery(kube, { cluster, pods: [] }, slots, { at, signal: AbortSignal.timeout(60_000) });
  return view?.kind === 'known' ? view.job?.notStarted : assert.fail('not known');
}

test('a recovery whose pod a quota refuses says so at once, in the words of its event', async () => {
  assert.deepEqual(await toldAfter(1), { reason: 'FailedCreate', message: 'exceeded quota: small' });
});

const etcd = { name: 'trial', ready: false, restartCount: 1 } as const;
const exited = (exitCode: number, message = '') => ({ terminated: { exitCode, reason: 'Error', message } });

/** As a rollback's pod with these containers is seen. */
async function failureOf(trial: object, place: object): Promise<unknown> {
  const pod = {
    metadata: { name: 'orders-1-restore-x', namespace, labels: restorePodLabels('orders') },
    spec: { containers: [] },
    status: {
      initContainerStatuses: [{ ...etcd, ...trial }],
      containerStatuses: [{ name: 'place', ready: false, restartCount: 0, ...place }],
    },
  } as unknown as Pod;
  const recovery = { id: '0123456789ab', attempt: 1, lastSeenOn: {} };
  const { slots } = healthy(1, { slots: { 0: withRecord({ state: 'restoring', recovery }) } });
  const cluster = { metadata: { name: 'orders', namespace } } as EtcdCluster;
  const options = { at: new Date('2026-01-02T03:00:00Z'), signal: AbortSignal.timeout(60_000) };
  const view = await readRecovery(createFakeKube(), { cluster, pods: [pod] }, slots, options);
  return view?.kind === 'known' ? view.pods[0]?.failure : assert.fail('not known');
}

// On a real kubelet: a Job that had failed seemed to have no reason, and was made again.
test('why a pod failed that ended between the list of pods and the look at its Job is seen', async () => {
  const kube = createFakeKube();
  const controlled = [{ apiVersion: 'v1', kind: 'Job', name: 'x', uid: 'job', controller: true }];
  const metadata = {
    ...{ name: 'orders-0-recovery-x', namespace, uid: 'pod', ownerReferences: controlled },
    labels: { ...recoveryPodLabels('orders'), 'batch.kubernetes.io/job-name': 'orders-0-recovery' },
  };
  const pod = (phase: string, state: object) =>
    ({
      metadata,
      spec: { containers: [] },
      status: { phase, initContainerStatuses: [{ ...etcd, name: 'set-aside', state }] },
    }) as unknown as Pod;
  kube.seed(resources.jobs, { ...job, status: { conditions: [{ type: 'Failed', status: 'True' }] } });
  kube.seed(resources.pods, pod('Failed', exited(3, 'no room')));
  const recovery = { id: '0123456789ab', attempt: 1, lastSeenOn: {} };
  const { slots } = healthy(1, { slots: { 0: withRecord({ state: 'recovering', recovery }) } });
  const cluster = { metadata: { name: 'orders', namespace } } as EtcdCluster;
  const when = { at: new Date('2026-01-02T03:00:00Z'), signal: AbortSignal.timeout(60_000) };
  const listed = [pod('Running', { running: {} })];
  const view = await readRecovery(kube, { cluster, pods: listed }, slots, when);
  assert.equal(view?.kind, 'known');
  assert.partialDeepStrictEqual(view.pods, [{ failure: { container: 'set-aside', code: 3 } }]);
});

test('the etcd of a trial that kubelet starts again has failed, in its last words', async () => {
  const words = '{"level":"panic","msg":"invalid database"}\n\ngoroutine 1 [running]:';
  const again = { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: exited(2, words) };
  const seen = { container: 'trial', code: 2, words: 'invalid database', reason: 'Error' };
  assert.deepEqual(await failureOf(again, { state: { running: {} } }), seen);
});

test('the etcd of a trial that is ended with its pod has not failed: the agent says what did', async () => {
  const said = JSON.stringify({ ok: false, reason: 'TrialFailed', message: 'it did not answer' });
  const seen = await failureOf({ state: exited(143) }, { state: exited(3, said) });
  assert.partialDeepStrictEqual(seen, { container: 'place', told: { reason: 'TrialFailed' } });
});
