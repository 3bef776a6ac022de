import { type ExistingCluster, existingOf, namesAll } from '../../../../manifests/api/existing-cluster.ts';
import type { Action } from '../action.ts';
import type { Life } from '../life.ts';
import type { Observation } from '../observation.ts';
import type { Refusal } from '../spec/refusal.ts';
import { inheritedIn, namesOf } from './inherited.ts';

type Seen = Pick<Observation, 'cluster'> & Partial<Pick<Observation, 'membership' | 'inherited'>>;

/**
 * What the status keeps of `spec.bootstrap.existing` (I13): from the lease of the step by which the first member of
 * ours joins, until a list has none of the others any more. An unknown list changes nothing.
 */
export function existingKept(
  { cluster, membership, inherited, life }: Seen & { readonly life: Life },
  /** The step that is taken. */
  action: Action | undefined,
): ExistingCluster | undefined {
  if (life.stage === 'unborn' && !(action && joins(action))) return undefined;
  if (!membership || membership.kind === 'unknown') return cluster.status?.existing;
  const left = inheritedIn({ membership, ...(inherited && { inherited }) });
  return left.length > 0 ? existingOf(cluster) : undefined;
}

function joins(action: Action): boolean {
  return action.kind === 'prepare-members' && action.members.some(({ record }) => record.state === 'joining');
}

/** The API server refuses such a commit, unless it has not been told of the others, or the status came later. */
export function existingRemoved({ cluster, membership, inherited }: Seen): Refusal | undefined {
  const { spec, status, metadata } = cluster;
  const kept = status?.existing;
  if (!kept || !membership || namesAll(spec.bootstrap?.existing, kept)) return undefined;
  const left = inheritedIn({ membership, ...(inherited && { inherited }) });
  if (left.length === 0) return undefined;
  return {
    reason: 'ExistingRemoved',
    message: `spec.bootstrap.existing no longer names all members of etcd cluster ${kept.clusterID}, and ${namesOf(left)} vote beside members of ours: what it said before counts`,
    cure: `write it again, with clusterID ${kept.clusterID} and memberIDs ${kept.memberIDs.join(', ')}; then approve that they leave, or call the adoption off: delete EtcdCluster ${metadata.name}, and its members leave first`,
    field: 'spec.bootstrap.existing',
  };
}
