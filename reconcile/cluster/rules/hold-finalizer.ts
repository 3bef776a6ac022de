import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { volumesFinalizer } from '../marks.ts';

/** A finalizer is there exactly where deletion has something to do: where the volumes are to go with the cluster. */
export function holdFinalizer({ cluster }: Situation): Decision | undefined {
  const wanted = cluster.spec.volumeRetention?.whenDeleted === 'Delete';
  const present = cluster.metadata.finalizers?.includes(volumesFinalizer) ?? false;
  if (wanted === present) return undefined;
  const why = wanted
    ? 'deletion will have to delete the volumes'
    : 'deletion has nothing more to do than keep the volumes';
  return act({ kind: 'set-finalizer', present: wanted }, 'SettingFinalizer', why);
}
