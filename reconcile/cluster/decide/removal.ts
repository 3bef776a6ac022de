import { retentionDefaults } from '../../../manifests/api/spec-defaults.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import type { ListedMember } from '../../interfaces/etcd.ts';
import type { ActionOf } from '../know/action.ts';
import { minAvailableFor, votersToProtect } from '../know/health/drains.ts';
import { differsFromPeers, verdictOf } from '../know/health/hashes.ts';
import { type Seen, urlOf } from '../know/health/health.ts';
import { recordOf } from '../know/life.ts';
import { successorOf } from '../know/membership/leadership.ts';
import type { Slot } from '../know/observation.ts';
import type { Situation } from '../know/situation.ts';
import { isOnOtherDisk } from '../know/volumes/sealed-disk.ts';

/**
 * Removes a member from the list; its volume is marked first. Any member may be the leader by then: where another
 * voter can lead, it is named as the successor, and takes over first.
 */
export function removalOf(
  slot: Slot,
  member: Pick<ListedMember, 'id' | 'isLearner'>,
  clusterId: string,
  situation: Situation,
): ActionOf<'remove-member'> {
  const { name, volume } = slot;
  const successor = member.isLearner ? undefined : successorOf(slot, situation);
  const corrupt = corruptionOf(slot, member.id, situation);
  const minAvailable = budgetWithout(slot, member.id, situation);
  return {
    kind: 'remove-member',
    name,
    memberId: member.id,
    clusterId,
    ...(volume && { volume: { name, uid: volume.uid } }),
    ...(successor && { successor }),
    ...(corrupt && { corrupt }),
    ...(isOnOtherDisk(slot) && { keeps: true }),
    ...retirementOf(slot, situation),
    ...(minAvailable !== undefined && { minAvailable }),
  };
}

/** The member's objects are deleted in the same step, as `finish-removal` would, in a cluster that is born. */
function retirementOf(slot: Slot, { life, cluster }: Situation): Pick<ActionOf<'remove-member'>, 'retires'> {
  const { name, volume, peer } = slot;
  const record = recordOf(slot);
  const url = urlOf(slot);
  if (life.stage !== 'born') return {};
  const leaving = peer?.current && !peer.leaving ? { peer: { name, uid: peer.uid } } : {};
  if (volume) return record ? { retires: { ...leaving, keep: isKept(record, cluster) } } : {};
  const isWhole = leaving.peer && peer?.replacingVolume === undefined && url !== undefined;
  return isWhole ? { retires: { ...leaving, keep: true, url } } : {};
}

/** `whenScaled` is for members that are removed because the spec became smaller; replaced ones are kept at first. */
export function isKept({ evidence, replacedAt }: VolumeRecord, { spec }: Situation['cluster']): boolean {
  return (
    (spec.volumeRetention?.whenScaled ?? retentionDefaults.whenScaled) === 'Retain' ||
    evidence === true ||
    replacedAt !== undefined
  );
}

/** The disruption budget's number without this member; `undefined`: it is right, or not ours to write. */
function budgetWithout(slot: Slot, memberId: string, situation: Situation): number | undefined {
  const { slots, membership, shared, life, effective } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born' || effective.replicas === 0) return undefined;
  if (shared.disruptionBudget.state !== 'present') return undefined;
  const members = membership.members.filter(({ id }) => id !== memberId);
  const rest = { ...situation, slots: slots.filter((one) => one !== slot), membership: { ...membership, members } };
  const wanted = minAvailableFor(votersToProtect(rest), situation);
  return wanted === shared.disruptionBudget.minAvailable ? undefined : wanted;
}

/** The other members whose data differ from this member's, if it is outvoted or says itself that its data differ. */
function corruptionOf(slot: Slot, memberId: string, seen: Seen): ActionOf<'remove-member'>['corrupt'] {
  const verdict = verdictOf(seen);
  if (verdict.kind !== 'majority' || !seen.hashes) return undefined;
  if (!verdict.guilty.has(memberId) && !differsFromPeers(slot)) return undefined;
  return { revision: String(seen.hashes.revision), trusted: [...verdict.trusted] };
}
