import { backupShown } from './backup.ts';
import { clusterShown } from './cluster.ts';
import { fleetShown } from './fleet.ts';
import { nodePolicyShown } from './node-policy.ts';
import { restoreShown } from './restore.ts';
import { scheduleShown } from './schedule.ts';
import type { ShownKind } from './shown.ts';
import type { KindSeen } from './words.ts';

/** What `why`, `history` and `tree` know of each kind. */
const shownKinds = {
  EtcdCluster: clusterShown,
  EtcdFleet: fleetShown,
  EtcdBackup: backupShown,
  EtcdBackupSchedule: scheduleShown,
  EtcdRestore: restoreShown,
  EtcdNodePolicy: nodePolicyShown,
} as const satisfies Record<KindSeen, ShownKind<never>>;

export function shownKind(kind: KindSeen): ShownKind {
  return shownKinds[kind] as ShownKind<never> as ShownKind;
}
