import { isUnstarted } from '../../manifests/build/volume-record.ts';
import { hasDeparted, isBeingReplaced, recordOf } from './life.ts';
import type { Observation, Slot } from './observation.ts';

/**
 * Claims that a birth asked for, and that arrived when it was over: the request of an invocation that slept through it. They are for a
 * member's first start, and nobody was ever started on them; all volumes of a birth say otherwise before the first of its members
 * starts. Also one that was restored as it was before its member had a vote. Whatever became of the volume that was there then: nobody
 * starts on this one (I5), and to every rule its member has none.
 */
export function setLateAside({ slots, membership }: Pick<Observation, 'slots' | 'membership'>): readonly Slot[] {
  const begun = new Set(
    slots.flatMap((slot) => {
      const record = recordOf(slot);
      return record && record.state !== 'bootstrapping' && !hasDeparted(slot) ? [record.token] : [];
    }),
  );
  if (begun.size === 0) return slots;
  return slots.map((slot) => {
    const { volume, ...rest } = slot;
    const isLate = isOutrun(slot, membership) || (isFresh(slot) && begun.has(recordOf(slot)?.token ?? ''));
    return volume && isLate ? { ...rest, late: volume } : slot;
  });
}

/** One that is being made anew is on its way to its first start. */
function isFresh(slot: Slot): boolean {
  const record = recordOf(slot);
  return record !== undefined && isUnstarted(record) && !isBeingReplaced(slot);
}

/**
 * Its member votes already, which nobody does before volume and ConfigMap are sealed; and the ConfigMap has gone with the claim that was.
 */
function isOutrun(slot: Slot, membership: Observation['membership']): boolean {
  const record = recordOf(slot);
  if (record?.state !== 'joining' || slot.configMap?.current) return false;
  const url = record.initialCluster.find(({ name }) => name === slot.name)?.url;
  const listed = membership.kind === 'known' ? membership.members : (membership.last ?? []);
  return listed.some(({ isLearner, peerURLs }) => !isLearner && url !== undefined && peerURLs.includes(url));
}

/** Nothing stands for a member there. */
export function isOnlyLate({ late, peer, volume, configMap, statefulSet, pod }: Slot): boolean {
  return late !== undefined && !(peer || volume || configMap || statefulSet || pod);
}
