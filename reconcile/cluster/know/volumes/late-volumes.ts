import { isOfRestore, isUnstarted } from '../../../../manifests/render/volume-record.ts';
import { hasDeparted, isBeingReplaced, isFromRecovery, recordOf } from '../life.ts';
import type { Observation, Slot } from '../observation.ts';
import { gaveUpBy } from '../recovery/outvoted.ts';

/**
 * PVCs of a birth that arrived when it was over: the request of an outdated invocation. They are for a member's first
 * start, and no member ever started on them; all volumes of a birth record a possible start before the first member
 * starts. Also a PVC that was restored as it was before its member had a vote, or was sealed. No member starts on such
 * a PVC (I5), and to every rule its member has no volume.
 */
export function setLateAside({
  cluster,
  slots,
  membership,
}: Pick<Observation, 'cluster' | 'slots' | 'membership'>): readonly Slot[] {
  const begun = new Set(
    slots.flatMap((slot) => {
      const record = recordOf(slot);
      return record && record.state !== 'bootstrapping' && !isOfRestore(record) && !hasDeparted(slot)
        ? [record.token]
        : [];
    }),
  );
  const remembered = cluster.status?.clusterID;
  // A rollback gives up the very cluster that status remembers.
  if (begun.size === 0 && (remembered === undefined || gaveUpBy(slots).includes(remembered))) return slots;
  if (begun.size === 0) return withoutRestoredBirth(slots);
  return slots.map((slot) => {
    const { volume, ...rest } = slot;
    const isBegun = begun.has(recordOf(slot)?.token ?? '');
    const isLate =
      isOutrun(slot, membership) || (isBegun && (isFresh(slot) || isRestoredAsBorn(slot) || isOfBirthAlone(slot)));
    return volume && isLate ? { ...rest, late: volume } : slot;
  });
}

/**
 * It says that its member may have started, and the ConfigMap, which is made before that and is deleted with the PVC,
 * is missing: the PVC was restored as it was at the birth. Unless a pod has started on it: pods start only with the
 * ConfigMap, and keep their PVC from being deleted (`kubernetes.io/pvc-protection`), so then the ConfigMap alone went.
 */
function isRestoredAsBorn(slot: Slot): boolean {
  const record = recordOf(slot);
  return (
    record?.state === 'bootstrapping' &&
    !isUnstarted(record) &&
    !slot.configMap?.current &&
    !slot.pod?.container.everStarted &&
    !isBeingReplaced(slot)
  );
}

/** All PVCs are as a birth made them, and status remembers a cluster: it is not born a second time. */
function withoutRestoredBirth(slots: readonly Slot[]): readonly Slot[] {
  const counting = slots.filter((slot) => recordOf(slot) && !hasDeparted(slot));
  if (counting.length === 0 || !counting.every(isOfAnotherTime)) return slots;
  return slots.map((slot) => {
    const { volume, ...rest } = slot;
    return volume && counting.includes(slot) ? { ...rest, late: volume } : slot;
  });
}

function isOfAnotherTime(slot: Slot): boolean {
  if (isKnownByItsDisk(slot)) return false;
  return isFreshAndBare(slot) || isRestoredAsBorn(slot) || (isOfBirthAlone(slot) && !slot.configMap?.current);
}

/**
 * Its data are all that a recovery left, and its record names their disk: where that is another one, it does not start
 * (`begin-from-snapshot`). Only its ConfigMap went.
 */
function isKnownByItsDisk(slot: Slot): boolean {
  return recordOf(slot)?.disk !== undefined && isFromRecovery(slot);
}

/** A cluster that is born from a snapshot has one member until that is sealed. */
function isOfBirthAlone(slot: Slot): boolean {
  const record = recordOf(slot);
  return record !== undefined && isOfRestore(record);
}

function isFreshAndBare(slot: Slot): boolean {
  return isFresh(slot) && !slot.configMap?.current;
}

/** A volume that is being recreated still waits for its first start. */
function isFresh(slot: Slot): boolean {
  const record = recordOf(slot);
  return record !== undefined && isUnstarted(record) && !isBeingReplaced(slot);
}

/**
 * Its member votes, which happens only after volume and ConfigMap are sealed; the ConfigMap was deleted with the old
 * PVC.
 */
function isOutrun(slot: Slot, membership: Observation['membership']): boolean {
  const record = recordOf(slot);
  if (record?.state !== 'joining' || slot.configMap?.current) return false;
  const url = record.initialCluster.find(({ name }) => name === slot.name)?.url;
  const listed = membership.kind === 'known' ? membership.members : (membership.last ?? []);
  return listed.some(({ isLearner, peerURLs }) => !isLearner && url !== undefined && peerURLs.includes(url));
}

/** No other object of a member exists there. */
export function isOnlyLate({ late, peer, volume, configMap, statefulSet, pod }: Slot): boolean {
  return late !== undefined && !(peer || volume || configMap || statefulSet || pod);
}
