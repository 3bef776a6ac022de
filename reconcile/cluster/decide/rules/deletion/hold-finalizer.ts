import { retentionDefaults } from '../../../../../manifests/api/spec-defaults.ts';
import { backupPolicy } from '../../../../../manifests/render/backup-before.ts';
import { isAdopting } from '../../../know/adoption/inherited.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { backupFinalizer, volumesFinalizer } from '../../../know/marks.ts';
import { unknownAmong, votersOf } from '../../../know/membership/voters.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * A finalizer is present exactly where deletion has a task: where the volumes are deleted with the cluster, where its
 * members must leave those of another origin, and where a last backup is taken.
 */
export function holdFinalizer(situation: Situation): Decision | undefined {
  const { cluster } = situation;
  const has = (finalizer: string) => cluster.metadata.finalizers?.includes(finalizer) ?? false;
  const deletes = (cluster.spec.volumeRetention?.whenDeleted ?? retentionDefaults.whenDeleted) === 'Delete';
  const leaves = isAdopting(situation) || mayVoteBesideOthers(situation);
  const needed = deletes || leaves;
  if (needed !== has(volumesFinalizer)) {
    const why = deletes
      ? 'deletion must delete the volumes'
      : leaves
        ? 'before a deletion its members must leave those that they joined'
        : 'deletion only keeps the volumes';
    return act({ kind: 'set-finalizer', present: needed }, 'SettingFinalizer', why);
  }
  const backsUp = backupPolicy(cluster, 'deletion') !== 'Never';
  if (backsUp === has(backupFinalizer)) return undefined;
  const why = backsUp ? 'deletion waits for a last backup' : 'deletion waits for no backup';
  return act({ kind: 'set-finalizer', finalizer: 'backup', present: backsUp }, 'SettingFinalizer', why);
}

/** The spec names no members of another origin any more, and the list has one, or is unknown: the finalizer stays. */
function mayVoteBesideOthers(situation: Situation): boolean {
  const { membership, cluster } = situation;
  const isHeld = cluster.metadata.finalizers?.includes(volumesFinalizer) === true;
  if (membership.kind === 'unknown') return isHeld;
  return isHeld && unknownAmong(votersOf(membership.members), situation) !== undefined;
}
