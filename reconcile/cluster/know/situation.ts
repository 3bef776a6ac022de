import type { ClusterSetAside } from '../../../manifests/api/etcd-cluster-status.ts';
import type { Decision } from './decision.ts';
import { type Life, lifeOf } from './life.ts';
import type { Observation } from './observation.ts';
import { setAsideNow } from './set-aside.ts';
import { type Effective, effectiveSpec } from './spec/effective.ts';
import { setLateAside } from './volumes/late-volumes.ts';

/** What the rules look at: the observation, and conclusions that all of them use. */
export interface Situation extends Observation {
  readonly life: Life;
  readonly effective: Effective;
  /** Actions that were refused for good, and are not to be retried yet. */
  readonly refused: readonly ClusterSetAside[];
}

/** Decides, or leaves the decision to the next rule. */
export type Rule = (situation: Situation) => Decision | undefined;

export function situate(observation: Observation): Situation {
  const { namespace } = observation.cluster.metadata;
  const slots = setLateAside(observation).map((slot) => (namespace === undefined ? slot : { ...slot, namespace }));
  const seen = { ...observation, slots };
  const life = lifeOf(seen);
  const refused = setAsideNow(seen);
  return { ...seen, life, effective: effectiveSpec({ ...seen, refused }, life), refused };
}
