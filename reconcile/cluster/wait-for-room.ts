import { type Decision, wait } from './decision.ts';
import type { Observation } from './observation.ts';

/** So many names are told; whoever wants all of them lists the clusters. */
const told = 3;

/** For what would change a cluster that works, while as many others of its fleet as may are at it, or not well. */
export function waitForRoom({ crowdedBy = [] }: Pick<Observation, 'crowdedBy'>): Decision {
  const names = [...crowdedBy.slice(0, told), ...(crowdedBy.length > told ? ['others'] : [])].join(', ');
  return wait(
    'WaitingForRoom',
    `as many clusters of this fleet as may (spec.maxClustersInProgress) are being changed, or are not well: ${names}`,
    { on: 'time', afterSeconds: 5 },
  );
}
