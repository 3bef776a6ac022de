import { hasDeparted, isFromRecovery } from '../../know/life.ts';
import type { Observation } from '../../know/observation.ts';
import { gaveUpBy, withoutOutvoted } from '../../know/recovery/outvoted.ts';
import type { Effect } from '../effect.ts';
import { forgettingTheList, rememberedList } from '../knowledge.ts';

/** Members of a cluster that was given up are asked no more, as soon as a volume says so. */
export const leaveGivenUp: Effect = (observation) => {
  const gaveUp = gaveUpBy(observation.slots);
  if (gaveUp.length === 0) return observation;
  const slots = withoutOutvoted(observation.slots).map((slot) =>
    hasDeparted(slot) && slot.endpoint.kind === 'known'
      ? { ...slot, endpoint: { kind: 'unknown', cause: 'it is not asked' } as const }
      : slot,
  );
  const isSame = slots.every((slot, at) => slot === observation.slots[at]);
  const settled: Observation = isSame ? observation : { ...observation, slots };
  const isKnown = gaveUp.includes(rememberedList(settled)?.clusterId ?? '');
  return isKnown || isTheLastOfOthers(settled) ? forgettingTheList(settled) : settled;
};

/** Before its quorum was lost: what takes the place of that cluster has no list yet. */
function isTheLastOfOthers({ membership, slots }: Observation): boolean {
  if (membership.kind === 'known' || !membership.last) return false;
  return slots.some(isFromRecovery);
}
