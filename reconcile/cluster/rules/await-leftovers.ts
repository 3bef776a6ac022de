import type { Situation } from '../decide.ts';
import { type Decision, wait } from '../decision.ts';

/**
 * Objects of a deleted namesake of this cluster are still being collected: wait until they are gone.
 *
 * Guards I5 and the at-most-one-writer rule: an old pod may still write to the volume that a new member would open.
 */
export function awaitLeftovers({ slots, shared }: Situation): Decision | undefined {
  const leaving = slots.find(
    ({ peer, configMap, statefulSet, pod }) =>
      isLeftover(peer) ||
      isLeftover(configMap) ||
      isLeftover(statefulSet) ||
      (pod !== undefined && statefulSet === undefined && peer === undefined),
  );
  if (leaving) {
    return wait(
      'OldObjectsLeaving',
      `objects named ${leaving.name} of an earlier resource are still being collected`,
      { on: 'change', of: 'pods' },
      { on: 'change', of: 'peers' },
      { on: 'change', of: 'statefulSets' },
      { on: 'time', afterSeconds: 2 },
    );
  }
  if (Object.values(shared).some(({ state }) => state === 'leftover')) {
    return wait('OldObjectsLeaving', 'Services of an earlier resource are still being collected', {
      on: 'time',
      afterSeconds: 1,
    });
  }
  return undefined;
}

function isLeftover(view: { readonly current: boolean; readonly leaving: boolean } | undefined): boolean {
  return view !== undefined && (!view.current || view.leaving);
}
