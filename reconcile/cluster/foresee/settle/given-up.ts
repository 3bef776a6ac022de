import { hasDeparted } from '../../know/life.ts';
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
  return gaveUp.includes(rememberedList(settled)?.clusterId ?? '') ? forgettingTheList(settled) : settled;
};
