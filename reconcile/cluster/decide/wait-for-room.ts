import { type Decision, wait } from '../know/decision.ts';
import type { Observation } from '../know/observation.ts';
import { tellSeconds } from '../know/plan/followed.ts';
import { someOf } from '../know/some-of.ts';

/**
 * For changes of a working cluster, while as many clusters of its fleet as allowed are being changed or not healthy; or
 * for a minute, where the change costs more than was shown of it before it was merged. `undefined`: it may begin.
 */
export function waitForRoom({
  crowdedBy,
  outgrown,
}: Pick<Observation, 'crowdedBy' | 'outgrown'>): Decision | undefined {
  if (outgrown !== undefined)
    return wait('PlanOutgrown', `${outgrown}: what takes them begins a minute after this was told`, {
      on: 'time',
      afterSeconds: tellSeconds,
    });
  if (!crowdedBy) return undefined;
  const names = someOf(crowdedBy);
  const by = names === '' ? '' : `: ${names}`;
  return wait(
    'WaitingForRoom',
    `as many clusters of this fleet, or of its stage, as allowed (maxClustersInProgress) are being changed, or are not healthy${by}`,
    { on: 'time', afterSeconds: 5 },
  );
}
