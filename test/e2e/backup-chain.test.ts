/** A backup that the installed CronJob's pods make, with the rights that the install gives and no others. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { createBackup, messageOf, reasonOf } from './support/backups.ts';
import { isReady } from './support/conditions.ts';
import { installNamespaced } from './support/installed.ts';
import { node } from './support/node.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';

const stage = scene({ host: '10.244.0.1', furnish: installNamespaced });

test('one trigger is enough: follow-up Jobs see a backup from its request to its proof', async (t) => {
  const { pushCluster, tickUntil, kubectl, namespace, get, list } = stage();
  await pushCluster('orders', { replicas: 1 });
  await tickUntil('orders', isReady);
  await makeBackupStore(stage());
  await createBackup(stage(), 'asked-for', { to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } });
  await kubectl(['-n', namespace, 'create', 'job', '--from=cronjob/etcd-ratchet', 'once']);
  let last = '';
  const backup = await until(
    'the backup is at its end',
    async () => {
      const found = await get<EtcdBackup>(resources.backups, 'asked-for');
      last = JSON.stringify(found?.status);
      return found?.status?.finishedAt === undefined ? undefined : found;
    },
    { within: 180, last: () => last },
  );
  assert.equal(reasonOf(backup), 'Verified', messageOf(backup));
  const took = Date.parse(backup.status?.finishedAt ?? '') - Date.parse(backup.metadata.creationTimestamp ?? '');
  t.diagnostic(`from request to proof ${took / 1000} s`);
  // What only the install's roles allow, or don't: events, status, Jobs and their pods.
  // Looked at once more where a pod has gone meanwhile, or has not started: those of Jobs come and go.
  const logs = await until('its pods have said something', async () => {
    const pods = (await list<Pod>(resources.pods)).map(({ metadata }) => metadata.name);
    const links = pods.filter((name) => name.startsWith('etcd-ratchet-') || name.startsWith('once'));
    const said = await Promise.all(links.map((name) => node().logs(namespace, name)));
    return said.length > 0 && said.every((log) => log !== '') && said;
  });
  for (const log of logs) assert.doesNotMatch(log, /forbidden|cannot be watched/i);
});
