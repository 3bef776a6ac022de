import { parseQuantity } from '../../../../manifests/api/quantity.ts';
import { approveCommand } from '../../../../manifests/render/kubectl.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { roomForTrial } from '../../../../manifests/render/trial-room.ts';
import type { Life } from '../life.ts';
import type { Observation } from '../observation.ts';
import { gaveUpBy } from '../recovery/outvoted.ts';
import type { Refusal } from '../spec/refusal.ts';
import { tooFarAhead } from './revisions.ts';
import {
  clusterToGiveUp,
  isApprovedBy,
  isRolledBack,
  namedBackup,
  newerVersion,
  rollbackBlockedBy,
  rollbackGiven,
  untried,
  type WantedRollback,
  wantedRollback,
} from './rollback.ts';

type Seen = Pick<Observation, 'cluster' | 'slots' | 'namedBackups' | 'newestBackup'>;

/** A rollback that the spec asks for, and that does not begin: with the command that approves it. */
export function rollbackRefusal(seen: Seen, life: Life): Refusal | undefined {
  const { rollback } = seen.cluster.spec;
  const present = clusterToGiveUp(seen, life);
  if (!rollback || present === undefined || isRolledBack(rollback.clusterID, seen)) return undefined;
  if (rollback.clusterID !== present) {
    return {
      reason: 'RollbackOutdated',
      message: `spec.rollback gives up etcd cluster ${rollback.clusterID}, and this is etcd cluster ${present}: nothing is rolled back`,
      cure: `remove spec.rollback; or, to give this one up, set spec.rollback.clusterID to ${present}`,
      field: 'spec.rollback.clusterID',
    };
  }
  const held = rollbackBlockedBy(seen);
  if (held !== undefined) {
    return {
      reason: 'RollbackHeldUp',
      message: `spec.rollback does not begin now: ${held}`,
      cure: 'finish that first; the rollback then begins, if it is approved',
      field: 'spec.rollback',
    };
  }
  const wanted = wantedRollback(seen);
  if (!wanted) return unfit(rollback, seen);
  const refused = tooFarAhead(wanted, true, seen);
  if (refused) return refused;
  return isApprovedBy(wanted, rollbackGiven(seen)) ? undefined : notApproved(wanted, seen);
}

function unfit({ backupName, snapshot }: NonNullable<Seen['cluster']['spec']['rollback']>, seen: Seen): Refusal {
  const view = namedBackup(seen);
  const taken = newerVersion(seen);
  const name = view?.name ?? backupName;
  const field = snapshot ? 'spec.rollback.snapshot' : 'spec.rollback.backupName';
  if (taken !== undefined) {
    const message = `spec.rollback goes back to EtcdBackup ${name}, which was taken by etcd ${taken}, and spec.version is ${seen.cluster.spec.version}`;
    return { reason: 'SnapshotTooNew', message, cure: `set spec.version to ${taken} or later`, field };
  }
  const why = view?.kind === 'unfit' ? view.why : 'it was not read';
  return {
    reason: 'RollbackBackupNotReady',
    message: `spec.rollback goes back to EtcdBackup ${name} of this namespace, and ${why}: nothing is rolled back`,
    cure: 'wait for it, correct spec.rollback.backupName, or name the object itself in spec.rollback.snapshot',
    field,
  };
}

function notApproved(wanted: WantedRollback, seen: Seen): Refusal {
  const { clusterId, revision } = wanted;
  const cramped = isCramped(seen);
  const approval = cramped ? untried(wanted.approval) : wanted.approval;
  const after = revision === undefined ? 'the snapshot was taken' : `revision ${revision}`;
  const whatever = wanted.sha256 === undefined ? `; ${unbound}` : '';
  const loses = `etcd cluster ${clusterId} is given up, and with it everything that was written after ${after}${whatever}${cramped ? `; ${unseen}` : ''}`;
  const without = cramped ? `, without a trial: ${noRoom(seen)}` : '';
  const approves = `spec.rollback goes back to ${inWords(wanted, seen)}${without}`;
  const asked = { annotation: annotations.rollBack, value: approval, approves, loses };
  return {
    reason: 'RollbackNotApproved',
    message: `${approves}: ${loses}; this takes an approval${voidOne(wanted, rollbackGiven(seen))}`,
    cure: `approve it: ${approveCommand('etcdclusters', seen.cluster.metadata, asked)}`,
    field: 'spec.rollback',
    approval: asked,
  };
}

const unseen = 'nothing shows before that an etcd serves what takes its place';

/** As far as the backup says how large it is. What it does not say is found when it is restored. */
function isCramped(seen: Seen): boolean {
  const view = namedBackup(seen);
  if (view?.kind !== 'fit' || view.bytes === undefined) return false;
  return parseQuantity(seen.cluster.spec.storage.size) < roomForTrial(view.bytes);
}

function noRoom({ cluster }: Seen): string {
  return `a volume of ${cluster.spec.storage.size} (spec.storage.size) has no room for the copy that an etcd would serve first`;
}

/** Said with the approval, which is for the name of an object then, and not for its content. */
const unbound =
  'no EtcdBackup of this namespace records this object, so whatever lies there by then is restored: spec.rollback.snapshot.sha256 would tell';

/** Which snapshot it is; of an EtcdBackup also whose data it has, where they are not those of the present cluster. */
export function inWords(
  { object, clusterId, backup, sha256 = '', field }: WantedRollback,
  { slots }: Pick<Observation, 'slots'>,
): string {
  const digest = sha256 === '' ? '' : `, sha256 ${sha256.slice(0, 12)}…`;
  if (!backup) return object;
  const { name } = backup;
  const what =
    field === 'spec.rollback.snapshot'
      ? `${object}${digest}, as EtcdBackup ${name} recorded it`
      : `EtcdBackup ${name} (${object}${digest})`;
  if (backup.clusterId === clusterId) return what;
  const isEarlier = gaveUpBy(slots).includes(backup.clusterId);
  const whose = isEarlier ? 'an earlier life of this cluster' : 'ANOTHER one, whose data take the place of these';
  return `${what}, which is of etcd cluster ${backup.clusterId}, ${whose}`;
}

/** A person may have copied the command of another rollback. */
function voidOne({ clusterId }: WantedRollback, given: string | undefined): string {
  if (given === undefined) return '';
  const other = given.startsWith(`${clusterId}/`) ? 'another snapshot' : 'another etcd cluster';
  return `; the present one (${annotations.rollBack}) is for ${other}, and void`;
}
