import { decide } from '../../reconcile/cluster/decide/decide.ts';
import type { Observation } from '../../reconcile/cluster/know/observation.ts';
import { type Bug, unchecked } from './seeding.ts';

export const handBugs: readonly Bug[] = [
  {
    name: 'rolls out what it finds',
    what: 'a StatefulSet that another client changed is rolled out like a change of ours',
    violates: 'I16',
    scenario: 'hands',
    faults: { hand: 1 },
    seed: (code) => ({
      ...unchecked(code, 'restart-member', { readDrift: () => undefined }),
      decide: (observation) => decide(trusting(observation)),
    }),
  },
  {
    name: 'believes its own look',
    what: 'a StatefulSet is not compared again just before its member restarts',
    violates: 'I16',
    scenario: 'hands while it rolls',
    faults: { hand: 1 },
    seed: (code) => unchecked(code, 'change-template', { readDrift: () => undefined }),
  },
  {
    name: 'cures with what it finds',
    what: 'a StatefulSet is not compared again before a pod that is not Ready is made anew of it',
    violates: 'I16',
    scenario: 'hands while it rolls',
    faults: { hand: 1, crash: 1 },
    seed: (code) => unchecked(code, 'reconfigure-members', { readDrift: () => undefined }),
  },
];

/** Our annotation is on it, and its content is not compared. */
function trusting(observation: Observation): Observation {
  const slots = observation.slots.map((slot) => {
    if (!slot.statefulSet) return slot;
    const { drift: _, ...statefulSet } = slot.statefulSet;
    return { ...slot, statefulSet };
  });
  return { ...observation, slots };
}
