import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { condition, isConverged, isStalledFor } from './support/conditions.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { scene } from './support/scene.ts';

/** An upgrade waits for its backup: without a store it does not begin, and with one it begins when that is proven. */

const stage = scene({ clearedBetween: true });

const backup = { to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } };

const versionsOf = ({ status }: EtcdCluster) => (status?.members ?? []).map(({ version }) => version);

async function backups(): Promise<readonly EtcdBackup[]> {
  return stage().list<EtcdBackup>(resources.backups);
}

test('an upgrade begins when its backup was restored and compared, and not before', async (t) => {
  const { tickUntil, pushCluster } = stage();
  await pushCluster('kept', { replicas: 1, version: '3.6.16', backup });
  await tickUntil('kept', isConverged);
  await makeBackupStore(stage());

  await pushCluster('kept', { replicas: 1, version: '3.7.3', backup });
  const foretold = await foretell(stage(), 'kept');
  assert.match(foretold.summary, /: a backup, 3\.6\.16→3\.7\.3/);
  const waiting = await tickUntil('kept', (found) => found.status?.lastDecision?.reason === 'BackingUp');
  assert.deepEqual(versionsOf(waiting), ['3.6.16']);
  const upgraded = await tickUntil('kept', (found) => isConverged(found) && versionsOf(found)[0] === '3.7.3', 180);
  t.diagnostic(assertForetold(foretold, upgraded));

  const [made, ...others] = await backups();
  assert.deepEqual(others, []);
  assert.equal(made && condition(made, 'Ready')?.status, 'True');
  assert.equal(made?.status?.etcdVersion, '3.6.16', 'of what the lower version wrote');
  assert.ok(made?.status?.verified, 'it was restored');
  const first = upgraded.status?.history?.find(({ reason }) => reason === 'UpgradingMember');
  assert.ok(
    Date.parse(first?.at ?? '') >= Date.parse(made?.status?.finishedAt ?? ''),
    'it began before its backup ended',
  );
});

test('a backup that fails holds the upgrade, and says how to go on', async () => {
  const { tickUntil, pushCluster, kubectl, namespace } = stage();
  const nowhere = {
    to: { object: 's3://backups/{{cluster}}/{{timestamp}}.db', s3: { endpoint: 'http://127.0.0.1:9' } },
  };
  await pushCluster('held', { replicas: 1, version: '3.6.16', backup: { ...nowhere, beforeUpgrade: 'Required' } });
  await tickUntil('held', isConverged);
  await pushCluster('held', { replicas: 1, version: '3.7.3', backup: { ...nowhere, beforeUpgrade: 'Required' } });
  await tickUntil('held', (found) => found.status?.lastDecision?.reason === 'BackingUp');
  // What the agent would say after five tries, which take a while.
  const made = (await backups()).find(({ spec }) => spec.clusterName === 'held');
  assert.ok(made, 'there is no backup');
  const at = new Date().toISOString().replace(/\.\d+/, '');
  const failed = { type: 'Ready', status: 'False', reason: 'Unreachable', message: 'the store is away' };
  const status = { observedGeneration: 1, finishedAt: at, conditions: [{ ...failed, lastTransitionTime: at }] };
  await kubectl([
    '-n',
    namespace,
    'patch',
    'etcdbackup',
    made.metadata.name,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ]);
  const stalled = await tickUntil('held', isStalledFor('BackupFailed'));
  assert.match(
    condition(stalled, 'Stalled')?.message ?? '',
    /the store is away.*delete etcdbackups[.]etcd[.]ratchet[.]dev/s,
  );
  assert.deepEqual(versionsOf(stalled), ['3.6.16']);
  await pushCluster('held', { replicas: 1, version: '3.7.3', backup: { ...nowhere, beforeUpgrade: 'BestEffort' } });
  await tickUntil('held', (found) => isConverged(found) && versionsOf(found)[0] === '3.7.3', 180);
  assert.equal((await backups()).filter(({ spec }) => spec.clusterName === 'held').length, 1, 'it is the same wish');
});
