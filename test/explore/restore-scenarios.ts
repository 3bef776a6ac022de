import type { EtcdClusterSpec } from '../../manifests/api/etcd-cluster.ts';
import type { MadeBackup } from './model/backup-state.ts';
import type { Change } from './model/git.ts';
import { withoutVolumes } from './model/losses.ts';
import { made } from './model/named-backups.ts';
import type { Consent } from './model/person.ts';
import { lacking, type Place, type World } from './model/state.ts';
import { healthy, unborn } from './model/worlds.ts';
import { one, type Scenario } from './scenario.ts';

const snapshot = { bootstrap: { snapshot: { object: 'gs://backups/orders/a.db' } } } as const;
const other = { bootstrap: { snapshot: { object: 'gs://backups/orders/b.db' } } } as const;

const corrected: Change = { what: 'another snapshot', spec: other };
const larger: Change = { what: 'storage.size: 2Gi', spec: { storage: { size: '2Gi' } } };
const deleted: Change = { what: 'the resource is deleted', resource: 'deleted' };
const applied: Change = { what: 'the resource is applied again', resource: 'applied' };
const appliedWithout: Change = { ...applied, spec: { bootstrap: {} } } as Change;

const one1 = (spec: Partial<EtcdClusterSpec> = {}) => unborn({ replicas: 1, ...snapshot, ...spec }, 4);

const wished: Change = {
  what: 'spec.rollback',
  spec: { rollback: { clusterID: 'c-token1cluster-1', snapshot: snapshot.bootstrap.snapshot } },
};
const approves: Consent = { what: 'a person approves the rollback', person: 'approves the rollback' };
const takesBack: Consent = { what: 'a person takes the approval back', person: 'takes the approval back' };
const saysOff: Consent = { what: 'a person says that the nodes are off', person: 'says that nodes are off' };

const single = (places = 4) => healthy({ replicas: 1 }, places);

const backup = { to: { object: 'gs://backups/{{cluster}}/{{timestamp}}.db' }, beforeDeletion: 'Required' } as const;
const volumeRetention = { whenDeleted: 'Delete', whenScaled: 'Delete' } as const;
const backedUp = healthy({ replicas: 1, backup: { ...backup, beforeUpgrade: 'Never' }, volumeRetention }, 4);

const behindBackups = healthy(
  {
    replicas: 1,
    backup: { ...backup, beforeUpgrade: 'Required', beforeHibernation: 'Required' },
    volumeRetention,
  },
  4,
);
const upgraded: Change = { what: 'version: 3.7.3', spec: { version: '3.7.3' } };
const asleep: Change = { what: 'replicas: 0', spec: { replicas: 0 } };
const awake: Change = { what: 'replicas: 1', spec: { replicas: 1 } };

const byName = (clusterID: string, backupName: string): Change => ({
  what: `spec.rollback to EtcdBackup ${backupName}`,
  spec: { rollback: { clusterID, backupName } },
});
const toNightly = byName('c-token1cluster-1', 'nightly');
const ours = made('nightly', { object: 'gs://backups/orders/a.db', ready: true });
const others = made('nightly', { object: 'gs://backups/orders/c.db', ready: true });
const named = (...all: readonly MadeBackup[]): World => ({ ...single(), named: all });

/** Clusters that are rolled back to an EtcdBackup, which goes, changes or is made anew at any time. */
const namedScenarios: readonly Scenario[] = [
  one(
    'roll back 1 to an EtcdBackup',
    named(ours),
    [toNightly, approves],
    { death: 1, late: 1, again: 1, namedGoes: 1 },
    2,
  ),
  one(
    'roll back 1 to an EtcdBackup, which is made anew',
    named(ours),
    [toNightly, approves, approves],
    { namedAnew: 1, namedGoes: 1, jobPod: 1, kill: 1 },
    2,
  ),
  one(
    'roll back 1 to an EtcdBackup, which is not Ready yet',
    named({ ...ours, ready: false }),
    [toNightly, approves],
    { namedTurns: 2, death: 1 },
    3,
  ),
  one(
    'roll back 1 to an EtcdBackup of another etcd cluster',
    named(others),
    [toNightly, approves],
    { death: 1, late: 1 },
    1,
  ),
  one(
    'roll back 1 to an EtcdBackup, called off and on',
    named(ours),
    [toNightly, approves, takesBack, approves],
    { namedGoes: 1, namedAnew: 1 },
    1,
  ),
  one(
    'roll back 1 to an EtcdBackup, and again to one of the earlier life',
    named(ours, { ...ours, name: 'weekly', uid: 'uid-of-weekly' }),
    [toNightly, approves, byName('c-token2cluster-1', 'weekly'), approves],
    { death: 1 },
    1,
  ),
  one(
    'roll back 1 to an EtcdBackup without volumes, which come back',
    (): World => ({ ...withoutVolumes(single(), [0]), named: [ours] }),
    [toNightly, approves],
    { restore: 1, namedGoes: 1 },
    2,
  ),
];

/** Clusters that are rolled back to a snapshot. How one grows again is the same as after a recovery. */
const rollbackScenarios: readonly Scenario[] = [
  one('roll back 1', single(), [wished, approves], { death: 1, late: 1, again: 1, second: 1 }, 2),
  one('roll back 1, and its Job is lost', single(), [wished, approves], { jobPod: 1, kill: 1, late: 1 }, 2),
  one('roll back 1, and its trial fails', single(), [wished, approves, takesBack], { trial: 1, death: 1, kill: 1 }, 1),
  one('roll back 1, and its trial has no room', single(), [wished, approves, approves], { cramped: 1, late: 1 }, 1),
  one('roll back 1, called off', single(), [wished, approves, takesBack], { death: 1, late: 1 }, 1),
  one('roll back 1, called off and on', single(), [wished, approves, takesBack, approves], {}, 0),
  one('roll back 1, and disks are lost', single(), [wished, approves], { wipe: 1, lost: 1, claim: 1, crash: 1 }, 1),
  one('roll back 1, and delete it after its last backup', backedUp, [wished, approves, deleted], { death: 1 }, 1),
  one(
    'roll back 1, and delete it, in misfortune',
    backedUp,
    [wished, approves, takesBack, deleted],
    { backupFails: 1, lost: 1 },
    1,
  ),
  one(
    'roll back 1, and upgrade it behind a backup',
    behindBackups,
    [wished, upgraded, approves],
    { death: 1, backupFails: 1, backupAges: 1 },
    1,
  ),
  one(
    'roll back 1, and hibernate behind a backup',
    behindBackups,
    [wished, approves, asleep, awake],
    { backupGoes: 1 },
    1,
  ),
  one(
    'roll back 1, upgraded behind a backup, and delete it',
    behindBackups,
    [upgraded, wished, approves, deleted],
    { death: 1 },
    1,
  ),
  one('roll back 1, and nodes are lost', single(), [wished, approves, saysOff], { node: 1, cut: 1, returns: 1 }, 2),
  one('roll back 2', healthy({ replicas: 2 }, 5), [wished, approves], { death: 1 }, 1),
  one('roll back, deleted and applied', single(), [wished, approves, deleted, applied], { claim: 1 }, 1),
  one(
    'roll back 1 without volumes, which come back',
    withoutVolumes(single(), [0]),
    [wished, approves],
    { restore: 1, late: 1 },
    2,
  ),
];

/** Clusters that are born from a snapshot. */
export const restoreScenarios: readonly Scenario[] = [
  one('restore to 1', one1(), [], { death: 2, late: 1, again: 1, second: 1, jobPod: 1, kill: 1 }, 2),
  one('restore to 1, and its Job is lost', one1(), [], { jobPod: 2, kill: 2, late: 2 }, 3),
  one('restore to 1, and its disk is lost', one1(), [], { wipe: 1, lost: 1, claim: 1, node: 1, crash: 1 }, 1),
  one('restore to 2', one1({ replicas: 2 }), [], { death: 1, late: 1, jobPod: 1 }, 1),
  one('restore, corrected', one1(), [corrected, larger], { death: 1, late: 1, kill: 1 }, 1),
  one('restore, deleted and applied', one1(), [deleted, applied], { death: 1, late: 1, claim: 1 }, 1),
  one('restore, deleted and applied without', one1(), [deleted, appliedWithout], { late: 1 }, 1),
  one('restored, and a late request', one1(), [], { late: 2, claim: 1, status: 1 }, 3),
  one('restore beside retained volumes', retained, [], { death: 1, late: 1 }, 1),
  ...rollbackScenarios,
  ...namedScenarios,
];

/** Remains of an earlier cluster of this name, and a resource that asks for a restore. */
function retained(): World {
  const world = healthy({ replicas: 2 }, 4);
  const left = (place: Place): Place => {
    const rest = lacking(place, 'peer', 'statefulSet', 'pod', 'process');
    return place.disk ? { ...rest, disk: place.disk } : rest;
  };
  const missing = { state: 'missing' } as const;
  const formations = world.formations.map((formation) => lacking(formation, 'leader'));
  return {
    cluster: { spec: { ...world.cluster.spec, ...snapshot }, generation: 2, uid: 'cluster-2', memory: {} },
    places: world.places.map(left),
    shared: {
      headlessService: missing,
      clientService: missing,
      disruptionBudget: missing,
      networkPolicy: missing,
      externalService: missing,
      revocations: missing,
    },
    formations,
  };
}
