import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../manifests/build/names.ts';
import type { Situation } from '../decide.ts';
import { type Decision, done } from '../decision.ts';

/** A person has said that nothing of it is to be changed. */
export function isLeftAlone({ spec, metadata }: EtcdCluster): boolean {
  return spec.suspend === true || metadata.annotations?.[annotations.paused] !== undefined;
}

/** A suspended or paused cluster is observed and reported, and nothing else. */
export function staySuspended({ cluster }: Situation): Decision | undefined {
  if (cluster.spec.suspend) return done('Suspended', 'spec.suspend is true: nothing is changed');
  if (cluster.metadata.annotations?.[annotations.paused] !== undefined) {
    return done('Paused', `the annotation ${annotations.paused} is set: nothing is changed`);
  }
  return undefined;
}
