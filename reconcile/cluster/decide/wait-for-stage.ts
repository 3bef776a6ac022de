import { type Decision, refuse, wait } from '../know/decision.ts';
import type { Situation } from '../know/situation.ts';

/** Seconds between looks at what only another cluster can end. */
const again = 5;

/**
 * For what a commit changed in a working cluster, while a stage of its fleet that comes before is not over
 * (`spec.rollout`), or a cluster that has it counts more than it may, or may do so. What has begun goes on.
 *
 * @returns `undefined`: it may begin
 */
export function waitForStage({ stage: hold, at }: Pick<Situation, 'stage' | 'at'>): Decision | undefined {
  if (!hold) return undefined;
  const { fleet, why, until, isHalt, isRoom } = hold;
  const whose = fleet === undefined ? 'the fleet of its label' : `fleet ${fleet}`;
  if (isHalt)
    return refuse(
      'RolloutHalted',
      `halted: ${why} (spec.rollout.haltAbove of ${whose})`,
      'see what that cluster suffers from; revert the commit; or, to go on all the same, raise or remove the limit in spec.rollout.haltAbove of the EtcdFleet',
    );
  if (isRoom)
    return wait(
      'WaitingForRoom',
      `as many clusters of this fleet as allowed (spec.maxClustersInProgress) are being changed, are not healthy, or are not measured yet (spec.rollout.haltAbove): ${why}`,
      { on: 'time', afterSeconds: again },
    );
  const afterSeconds = until ? Math.max(again, Math.ceil((until.getTime() - at.getTime()) / 1000)) : again;
  return wait('WaitingForStage', `${whose} rolls out in stages: ${why}`, { on: 'time', afterSeconds });
}
