import { type Decision, wait } from '../know/decision.ts';
import type { Observation } from '../know/observation.ts';

/** How many names the message has; the list of clusters has all. */
const told = 3;

/**
 * For changes of a working cluster, while as many clusters of its fleet as allowed are being changed or not healthy.
 */
export function waitForRoom({ crowdedBy = [] }: Pick<Observation, 'crowdedBy'>): Decision {
  const names = [...crowdedBy.slice(0, told), ...(crowdedBy.length > told ? ['others'] : [])].join(', ');
  const by = names === '' ? '' : `: ${names}`;
  return wait(
    'WaitingForRoom',
    `as many clusters of this fleet as allowed (spec.maxClustersInProgress) are being changed, or are not healthy${by}`,
    { on: 'time', afterSeconds: 5 },
  );
}
