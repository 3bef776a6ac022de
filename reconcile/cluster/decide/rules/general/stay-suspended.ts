import { annotations } from '../../../../../manifests/render/names.ts';
import { type Decision, done } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';

/** A suspended or paused cluster is observed and reported, and not changed. */
export function staySuspended({ cluster }: Situation): Decision | undefined {
  if (cluster.spec.suspend) return done('Suspended', 'spec.suspend is true: nothing is changed');
  if (cluster.metadata.annotations?.[annotations.paused] !== undefined) {
    return done('Paused', `the annotation ${annotations.paused} is set: nothing is changed`);
  }
  return undefined;
}
