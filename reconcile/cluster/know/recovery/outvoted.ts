import { isEtcdId } from '../../../../manifests/api/identifiers.ts';
import { isOfRecovery, type OutvotedMember, type VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { hasDeparted, type Life, recordOf } from '../life.ts';
import type { Observation, Slot } from '../observation.ts';

/**
 * Members that a recovery left behind. Their volumes may turn up at any time, with records from before the recovery: a
 * PVC restored from a backup says `sealed`, in good faith. All volumes of the members that went on remember them, and
 * theirs is the truth: for every rule such a volume is `superseded`, whatever it says of itself. So it is with volumes
 * of a whole cluster that was given up when this one was rolled back.
 *
 * Two of them at once would be a quorum of the old cluster, and would accept writes.
 */
export function withoutOutvoted(found: readonly Slot[]): readonly Slot[] {
  const slots = found.map((slot) => (isForsaken(slot, found) ? inState(slot, 'restoring') : slot));
  return slots.map((slot) => {
    const isLeftBehind = slots.some((other) => leftBehind(other, slot) && !leftBehind(slot, other));
    return isLeftBehind && !hasDeparted(slot) ? inState(slot, 'superseded', { unmarked: true }) : slot;
  });
}

/**
 * A rollback's data are lost, or will be, before its member was started, and no volume of the cluster that it gives up
 * was told: that one serves on, and the rollback is called off, as before its data were there.
 */
function isForsaken(slot: Slot, slots: readonly Slot[]): boolean {
  const { volume, statefulSet, pod } = slot;
  const record = recordOf(slot);
  const gaveUp = record?.gaveUp;
  if (record?.state !== 'restored' || !gaveUp || isOfRecovery(record)) return false;
  if (!(volume?.lost || volume?.leaving) || statefulSet || pod) return false;
  const former = slots.filter((other) => gaveUp.at(-1) === recordOf(other)?.clusterId);
  return former.length > 0 && former.every((other) => recordOf(other)?.state !== 'superseded');
}

/** Whatever its own PVC says. */
function inState(slot: Slot, state: VolumeRecord['state'], mark?: { readonly unmarked: true }): Slot {
  const { volume } = slot;
  if (volume?.record.kind !== 'valid') return slot;
  return {
    ...slot,
    volume: { ...volume, record: { kind: 'valid', record: { ...volume.record.record, state } }, ...mark },
  };
}

/** Two volumes that say it of each other both lose their say (`TwoRecoveries`). */
function leftBehind(by: Slot, slot: Slot): boolean {
  return isGivenUp(by, slot) || isOutvoted(by, slot);
}

/** A recovery left that very member behind. */
export function isOutvoted(by: Slot, slot: Slot): boolean {
  const memberId = recordOf(slot)?.memberId;
  return memberId !== undefined && outvotedBy([by]).some((one) => one.memberId === memberId);
}

/** Its whole cluster was given up by a rollback. Every volume that joins a cluster has its ID. */
export function isGivenUp(by: Slot, slot: Slot): boolean {
  const clusterId = recordOf(slot)?.clusterId;
  return clusterId !== undefined && gaveUpBy([by]).includes(clusterId);
}

/** IDs of clusters that were given up. More than these are dropped, the oldest first. */
export const mostRemembered = 64;

/** All that the volumes of these slots remember. */
export function gaveUpBy(slots: readonly Slot[]): readonly string[] {
  return [...new Set(slots.flatMap((slot) => (hasDeparted(slot) ? [] : (recordOf(slot)?.gaveUp ?? []))))];
}

/**
 * The etcd clusters that this one was rolled back from, the oldest first. Where no volume is left that could remember,
 * the status alone does: the next rollback hands it on to its volume, or an earlier life would be believed again.
 */
export function livesGivenUp(
  { cluster, slots }: Pick<Observation, 'cluster' | 'slots'>,
  life: Life,
): readonly string[] {
  const remembered = gaveUpBy(slots);
  if (remembered.length > 0 || life.stage !== 'unclear') return remembered;
  return (cluster.status?.gaveUp ?? []).filter(isEtcdId);
}

/** All that the volumes of these slots remember. Volumes that were left behind or given up have no say. */
export function outvotedBy(slots: readonly Slot[]): readonly OutvotedMember[] {
  const all = slots.flatMap((slot) => (hasDeparted(slot) ? [] : (recordOf(slot)?.outvoted ?? [])));
  return [...new Map(all.map((member) => [member.memberId, member])).values()];
}

/**
 * Volumes whose own PVCs lack the mark: an invocation died before it, or the PVC was restored since. With a witness, a
 * volume that remembers it.
 */
export function unmarkedOf(
  slots: readonly Slot[],
): { readonly witness: Slot; readonly unmarked: readonly Slot[] } | undefined {
  for (const witness of slots.filter(({ volume }) => volume?.leaving === false)) {
    const unmarked = slots.filter((slot) => slot.volume?.unmarked && leftBehind(witness, slot));
    if (unmarked.length > 0) return { witness, unmarked };
  }
  return undefined;
}
