import type { ClusterCounters } from '../../../manifests/api/cluster-counters.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { HaltAbove } from '../../../manifests/api/rollout.ts';
import { processesOf } from '../../../reconcile/cluster/know/counters.ts';
import { slotsOf } from '../../../reconcile/cluster/observe/slots.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { heldByStages } from '../../../reconcile/cluster/observe/stages.ts';
import { fleetOf, now, stages } from './staged-objects.ts';

/** Clusters of a fleet in stages whose members are counted (`spec.rollout.haltAbove`). */

export const haltAbove: HaltAbove = { leaderChanges: 2 };
const zero = { leaderChanges: 3, failedProposals: 0, fsyncs: 9, slowFsyncs: 0, commits: 9, slowCommits: 0 };
export const before = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString().replace('.000', '');
export const at = (...minutes: readonly number[]) => minutes.map((one) => ({ at: before(one), ...zero }));

/** Measured for ten minutes, until two minutes ago. */
export function counted(objects: ClusterObjects, differences: Partial<ClusterCounters> = {}): ClusterObjects {
  const { cluster } = objects;
  const own = { ...processesOf(slotsOf(objects)), above: haltAbove, samples: at(12, 7, 2), ...differences };
  return {
    ...objects,
    cluster: { ...cluster, status: { ...(cluster.status ?? { observedGeneration: 1 }), counters: own } },
  };
}

/** It counted too much so many minutes ago. */
export const beyond = (objects: ClusterObjects, minutes = 5) =>
  counted(objects, { exceeded: { at: before(minutes), limit: 'leaderChanges' } });

export function halting(clusters: readonly ClusterObjects[], above = haltAbove, soaks = stages): EtcdFleet {
  const { spec, ...others } = fleetOf(clusters);
  return { ...others, spec: { ...spec, rollout: { stages: soaks, haltAbove: above } } };
}

export const heldAmong = (clusters: readonly ClusterObjects[], of = halting(clusters)) =>
  heldByStages(clusters, [of], now);

export const behind = { behind: 3 };
