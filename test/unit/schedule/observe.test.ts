import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import { observeSchedule } from '../../../reconcile/schedule/observe.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';

const kind = 'EtcdBackupSchedule';

function madeBy(uid: string, namespace: string): EtcdBackup {
  const owner = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind, name: 'nightly', uid, controller: true };
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { name: `of-${uid}`, namespace, ownerReferences: [owner] },
    spec: { clusterName: 'orders', to: { object: 's3://bucket/{{timestamp}}.db' } },
  };
}

test('a backup of another namespace that names a schedule as its owner is none of its', async () => {
  const schedule = {
    metadata: { name: 'nightly', namespace: 'shop', uid: 'nightly' },
    spec: { schedule: '0 3 * * *', template: {} },
  } as unknown as EtcdBackupSchedule;
  const all = [madeBy('nightly', 'shop'), madeBy('nightly', 'mallory'), madeBy('other', 'shop')];
  const { backups } = await observeSchedule(schedule, all, {
    kube: createFakeKube(),
    signal: AbortSignal.timeout(5_000),
  });
  assert.deepEqual(backups, [all[0]]);
});
