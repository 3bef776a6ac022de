import { retentionDefaults } from '../../../../../manifests/api/spec-defaults.ts';
import { backupPolicy } from '../../../../../manifests/render/backup-before.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { backupFinalizer, volumesFinalizer } from '../../../know/marks.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * A finalizer is present exactly where deletion has a task: where the volumes are deleted with the cluster, and where a
 * last backup is taken.
 */
export function holdFinalizer({ cluster }: Situation): Decision | undefined {
  const has = (finalizer: string) => cluster.metadata.finalizers?.includes(finalizer) ?? false;
  const deletes = (cluster.spec.volumeRetention?.whenDeleted ?? retentionDefaults.whenDeleted) === 'Delete';
  if (deletes !== has(volumesFinalizer)) {
    const why = deletes ? 'deletion must delete the volumes' : 'deletion only keeps the volumes';
    return act({ kind: 'set-finalizer', present: deletes }, 'SettingFinalizer', why);
  }
  const backsUp = backupPolicy(cluster, 'deletion') !== 'Never';
  if (backsUp === has(backupFinalizer)) return undefined;
  const why = backsUp ? 'deletion waits for a last backup' : 'deletion waits for no backup';
  return act({ kind: 'set-finalizer', finalizer: 'backup', present: backsUp }, 'SettingFinalizer', why);
}
