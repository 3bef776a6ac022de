import { type Decision, refuse, wait } from '../know/decision.ts';
import type { StageHold } from '../know/observation.ts';
import type { Situation } from '../know/situation.ts';

const cures = {
  haltAbove:
    'see what that cluster suffers from; revert the commit; or, to go on all the same, approve it (kubectl ratchet approve --fleet), or raise the limit in spec.rollout.haltAbove of the EtcdFleet',
  haltOnStatuses:
    'see in the forge why it failed; revert the commit; or, to go on all the same, have it succeed, or approve it (kubectl ratchet approve --fleet)',
} as const satisfies Record<NonNullable<StageHold['halt']>, string>;

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
  const { fleet, why, until, halt, isRoom } = hold;
  const whose = fleet === undefined ? 'the fleet of its label' : `fleet ${fleet}`;
  if (halt) return refuse('RolloutHalted', `halted: ${why} (spec.rollout.${halt} of ${whose})`, cures[halt]);
  if (isRoom)
    return wait(
      'WaitingForRoom',
      `as many clusters of this fleet, or of its stage, as allowed (maxClustersInProgress) are being changed, are not healthy, or are not measured yet (spec.rollout.haltAbove): ${why}`,
      { on: 'time', afterSeconds: again },
    );
  const afterSeconds = until ? Math.max(again, Math.ceil((until.getTime() - at.getTime()) / 1000)) : again;
  return wait('WaitingForStage', `${whose} rolls out in stages: ${why}`, { on: 'time', afterSeconds });
}
