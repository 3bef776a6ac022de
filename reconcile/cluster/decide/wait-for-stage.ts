import { type Decision, wait } from '../know/decision.ts';
import type { Situation } from '../know/situation.ts';

/** Seconds between looks at what only another cluster can end. */
const again = 5;

/**
 * For what a commit changed in a working cluster, while a stage of its fleet that comes before is not over
 * (`spec.rollout`). What has begun goes on. `undefined`: it may begin.
 */
export function waitForStage({ stage: hold, at }: Pick<Situation, 'stage' | 'at'>): Decision | undefined {
  if (!hold) return undefined;
  const { fleet, why, until } = hold;
  const afterSeconds = until ? Math.max(again, Math.ceil((until.getTime() - at.getTime()) / 1000)) : again;
  return wait(
    'WaitingForStage',
    `${fleet === undefined ? 'the fleet of its label' : `fleet ${fleet}`} rolls out in stages: ${why}`,
    {
      on: 'time',
      afterSeconds,
    },
  );
}
