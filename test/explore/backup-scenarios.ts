import type { BackupPolicy, ClusterBackup } from '../../manifests/api/cluster-backup.ts';
import type { EtcdClusterSpec } from '../../manifests/api/etcd-cluster.ts';
import type { Change } from './model/git.ts';
import { healthy } from './model/worlds.ts';
import { one, type Scenario } from './scenario.ts';

function backups(policy: BackupPolicy): ClusterBackup {
  const to = { object: 'gs://backups/{{cluster}}/{{timestamp}}.db' };
  return { to, beforeUpgrade: policy, beforeHibernation: policy, beforeDeletion: policy };
}

function clusterOf(replicas: number, spec: Partial<EtcdClusterSpec> = {}, policy: BackupPolicy = 'Required') {
  return healthy({ replicas, backup: backups(policy), ...spec }, replicas + 3);
}

const upgraded: Change = { what: 'version: 3.7.3', spec: { version: '3.7.3' } };
const patched: Change = { what: 'version: 3.6.17', spec: { version: '3.6.17' } };
const unpatched: Change = { what: 'version: 3.6.16, again', spec: { version: '3.6.16' } };
const toMiddle: Change = { what: 'version: 3.6.16', spec: { version: '3.6.16' } };
const without: Change = { what: 'backups: Never', spec: { backup: backups('Never') } };
const asleep: Change = { what: 'replicas: 0', spec: { replicas: 0 } };
const awake: Change = { what: 'replicas: 1', spec: { replicas: 1 } };
const deleted: Change = { what: 'the resource is deleted', resource: 'deleted' };
const applied: Change = { what: 'the resource is applied again', resource: 'applied' };
const withVolumes = { volumeRetention: { whenDeleted: 'Delete', whenScaled: 'Delete' } } as const;

const holders = { death: 1, late: 1, second: 1 } as const;
const misfortunes = { backupFails: 1, backupAges: 1, backupGoes: 1, crash: 1 } as const;

/** Clusters that ask for a backup before they change or go. */
export const backupScenarios: readonly Scenario[] = [
  one('back up, and upgrade 1', clusterOf(1), [upgraded], { ...holders, again: 1 }, 2),
  one('back up, and upgrade 1, in misfortune', clusterOf(1), [upgraded], { ...misfortunes, death: 1, status: 1 }, 3),
  one('back up, and upgrade 1, and back', clusterOf(1), [upgraded, toMiddle, upgraded], misfortunes, 1),
  one('back up, and upgrade 2', clusterOf(2), [upgraded], { death: 1, crash: 1, backupAges: 1 }, 1),
  one('back up, and upgrade 3, of which one is lost', clusterOf(3), [upgraded], { claim: 1, wipe: 1, lost: 1 }, 1),
  one(
    'back up, and patch 3, of which one is lost',
    clusterOf(3),
    [patched],
    { crash: 1, claim: 1, wipe: 1, node: 1 },
    1,
  ),
  one('back up, and patch 1, and back', clusterOf(1), [patched, unpatched, patched], { ...misfortunes, death: 1 }, 2),
  one(
    'back up before each of two minors',
    clusterOf(1, { version: '3.5.35' }),
    [toMiddle, upgraded],
    { death: 1, backupAges: 1 },
    1,
  ),
  one(
    'back up as best it can, and upgrade',
    clusterOf(1, {}, 'BestEffort'),
    [upgraded],
    { ...misfortunes, death: 1 },
    2,
  ),
  one('back up, and delete 1', clusterOf(1, withVolumes), [deleted, applied], holders, 2),
  // The replacement of a member alone has more states than there is time for: with it, as far as the time goes.
  one(
    'back up, and delete 1, whose PVC goes',
    clusterOf(1, withVolumes),
    [deleted, applied],
    { claim: 1, death: 1 },
    2,
  ),
  one(
    'back up, and delete 1, in misfortune',
    clusterOf(1, withVolumes),
    [deleted, without],
    { ...misfortunes, wipe: 1 },
    2,
  ),
  one('back up, and delete 2, and keep the volumes', clusterOf(2), [deleted, applied], { death: 1, late: 1 }, 1),
  one('back up, and hibernate, and wake', clusterOf(1), [asleep, awake, asleep], { ...holders }, 1),
  one('back up, and hibernate, and delete', clusterOf(1, withVolumes), [asleep, awake, deleted], holders, 1),
  one('back up, and hibernate, and delete 2', clusterOf(2, withVolumes), [asleep, deleted], { death: 1, late: 1 }, 1),
  one(
    'back up, and hibernate, and delete, in misfortune',
    clusterOf(1, withVolumes),
    [asleep, deleted, without],
    { backupFails: 1, backupAges: 1, backupGoes: 1, objectGoes: 1, death: 1 },
    2,
  ),
  one('back up, and hibernate, in misfortune', clusterOf(1), [asleep, awake], misfortunes, 2),
];
