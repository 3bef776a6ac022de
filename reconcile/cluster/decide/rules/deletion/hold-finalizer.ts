import { retentionDefaults } from '../../../../../manifests/api/spec-defaults.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { volumesFinalizer } from '../../../know/marks.ts';
import type { Situation } from '../../../know/situation.ts';

/** The finalizer is present exactly where deletion has a task: where the volumes are deleted with the cluster. */
export function holdFinalizer({ cluster }: Situation): Decision | undefined {
  const wanted = (cluster.spec.volumeRetention?.whenDeleted ?? retentionDefaults.whenDeleted) === 'Delete';
  const present = cluster.metadata.finalizers?.includes(volumesFinalizer) ?? false;
  if (wanted === present) return undefined;
  const why = wanted ? 'deletion must delete the volumes' : 'deletion only keeps the volumes';
  return act({ kind: 'set-finalizer', present: wanted }, 'SettingFinalizer', why);
}
