import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { clusters, fleets, plan } from '../../support/page/scene.ts';
import { pages } from '../../support/page/server.ts';

const full = { fleets, clusters, plan: async () => plan } as const;
const path = '/clusters/payments/orders';

function schedule(name: string, status: object = {}, spec: object = {}, clusterName = 'orders'): EtcdBackupSchedule {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackupSchedule',
    metadata: { name, namespace: 'payments', uid: name },
    spec: { schedule: '30 2 * * *', template: { clusterName, to: { object: 'gs://b/{{timestamp}}.db' } }, ...spec },
    status: { observedGeneration: 1, ...status },
  };
}

const said = (status: 'True' | 'False', reason: string, message: string) => ({
  ...{ type: 'Ready', status, reason, message },
  lastTransitionTime: '2026-11-01T00:00:00Z',
});

test("a cluster's page shows what is last, good and next of its schedules, and what is wrong", async () => {
  const { get, kube } = pages(full);
  const at = { lastAt: '2026-11-01T02:30:00Z', nextAt: '2099-01-01T02:30:00Z' };
  const lastGood = { name: 'a', object: 'gs://b/a.db', takenAt: '2026-10-30T02:30:00Z' };
  kube.seed(
    resources.schedules,
    schedule('nightly', { ...at, lastGood, conditions: [said('True', 'Scheduled', 'well')] }),
    schedule('hourly', { conditions: [said('False', 'BackupTooOld', 'none for <b>days</b>')] }),
    schedule('asleep', {}, { suspend: true }),
    schedule('foreign', {}, {}, 'others'),
  );
  const text = await (await get(path)).text();
  for (const time of [at.lastAt, lastGood.takenAt, at.nextAt])
    assert.ok(text.includes(`datetime="${new Date(time).toISOString()}"`), time);
  assert.match(text, /30 2 \* \* \*/);
  assert.match(text, /none for &lt;b&gt;days&lt;\/b&gt;/);
  assert.match(text, />Suspended</);
  assert.doesNotMatch(text, /foreign/);
});

test('many schedules are counted, not all shown', async () => {
  const { get, kube } = pages(full);
  kube.seed(resources.schedules, ...Array.from({ length: 40 }, (_, index) => schedule(`one-${index}`)));
  const text = await (await get(path)).text();
  assert.equal(text.match(/>one-\d+</g)?.length, 10);
  assert.match(text, /and 30 others/);
});

for (const [what, options] of [
  ['is not installed', { serves: ({ plural }: { plural: string }) => plural !== 'etcdbackupschedules' }],
  ['may not be read', { authorize: ({ key }: { key: string }) => key !== 'LIST etcdbackupschedules' }],
] as const) {
  test(`a page without schedules is shown where the kind ${what}`, async () => {
    const { get } = pages({ ...full, ...options });
    const answer = await get(path);
    assert.equal(answer.status, 200);
    assert.doesNotMatch(await answer.text(), />Schedules of backups</);
  });
}
