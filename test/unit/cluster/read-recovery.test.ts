import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Event, Job } from '../../../manifests/kube-types.ts';
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
