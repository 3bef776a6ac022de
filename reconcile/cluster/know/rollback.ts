import { hashOf } from '../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { wishOf } from '../../../manifests/render/snapshot-id.ts';
import { isAspirant } from '../../../manifests/render/volume-record.ts';
import { type Life, recordOf } from './life.ts';
import type { Observation, Slot } from './observation.ts';
import { gaveUpBy } from './outvoted.ts';
import { type WantedSnapshot, wantedOf } from './restore.ts';

/** A snapshot that the spec asks to go back to, under the same name. */
export interface WantedRollback extends WantedSnapshot {
  /** The etcd cluster that is given up for it. */
  readonly clusterId: string;
  readonly revision?: number;
  /** What a person sets to approve exactly this. */
  readonly approval: string;
}

type Seen = Pick<Observation, 'cluster' | 'slots'>;

/**
 * The approval names the etcd cluster that is given up, and the snapshot with its digest: it fits no other cluster of
 * this name, neither the one that the rollback makes, and no other backup.
 */
export function wantedRollback({ cluster }: Pick<Observation, 'cluster'>): WantedRollback | undefined {
  const { rollback } = cluster.spec;
  if (!rollback) return undefined;
  const { clusterID: clusterId, snapshot } = rollback;
  const { revision } = snapshot;
  return {
    ...wantedOf(snapshot, 'spec.rollback.snapshot'),
    clusterId,
    ...(revision !== undefined && { revision }),
    approval: `${clusterId}/${hashOf({ clusterId, snapshot: wishOf(snapshot) }).slice(0, 12)}`,
  };
}

/** As a person set it; hostile or not, it is only ever compared. */
export function rollbackGiven({ cluster }: Pick<Observation, 'cluster'>): string | undefined {
  return cluster.metadata.annotations?.[annotations.rollBack];
}

/** The etcd cluster that may be given up: one that was born, also where none of its volumes exists any more. */
export function clusterToGiveUp({ cluster }: Pick<Observation, 'cluster'>, life: Life): string | undefined {
  if (life.stage === 'born') return life.clusterId;
  return life.stage === 'unclear' && life.reason === 'AllVolumesGone' ? cluster.status?.clusterID : undefined;
}

/** Whether it is over: also when the document is applied again. */
export function isRolledBack({ clusterId }: WantedRollback, { slots }: Pick<Observation, 'slots'>): boolean {
  return gaveUpBy(slots).includes(clusterId);
}

/** What a person has approved, of exactly this cluster, and what nothing speaks against. */
export function approvedRollback(seen: Seen, life: Life): WantedRollback | undefined {
  const wanted = wantedRollback(seen);
  if (!wanted || wanted.clusterId !== clusterToGiveUp(seen, life)) return undefined;
  return rollbackGiven(seen) === wanted.approval && heldUpBy(seen) === undefined ? wanted : undefined;
}

/** Why no rollback begins, whatever is approved. */
export function heldUpBy({ cluster, slots }: Seen): string | undefined {
  const recovering = slots.find((slot) => ['recovering', 'recovered'].includes(recordOf(slot)?.state ?? ''));
  if (recovering) return `the cluster is being recovered from ${recovering.name}`;
  return cluster.spec.replicas === 0 ? 'spec.replicas is 0' : undefined;
}

/** Members of the cluster that a rollback makes, while its snapshot is restored. More than one: by late requests. */
export function aspirantsIn(slots: readonly Slot[]): readonly Slot[] {
  return slots.filter((slot) => {
    const record = recordOf(slot);
    return record !== undefined && isAspirant(record);
  });
}
