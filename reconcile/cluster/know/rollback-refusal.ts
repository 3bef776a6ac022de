import { annotateCommand } from '../../../manifests/render/kubectl.ts';
import { annotations } from '../../../manifests/render/names.ts';
import type { Life } from './life.ts';
import type { Observation } from './observation.ts';
import {
  clusterToGiveUp,
  heldUpBy,
  isRolledBack,
  rollbackGiven,
  type WantedRollback,
  wantedRollback,
} from './rollback.ts';
import type { Refusal } from './spec-refusal.ts';

type Seen = Pick<Observation, 'cluster' | 'slots'>;

/** A rollback that the spec asks for, and that does not begin: with the command that approves it. */
export function rollbackRefusal(seen: Seen, life: Life): Refusal | undefined {
  const wanted = wantedRollback(seen);
  const present = clusterToGiveUp(seen, life);
  if (!wanted || present === undefined || isRolledBack(wanted, seen)) return undefined;
  if (wanted.clusterId !== present) {
    return {
      reason: 'RollbackOutdated',
      message: `spec.rollback gives up etcd cluster ${wanted.clusterId}, and this is etcd cluster ${present}: nothing is rolled back`,
      cure: `remove spec.rollback; or, to give this one up, set spec.rollback.clusterID to ${present}`,
      field: 'spec.rollback.clusterID',
    };
  }
  const held = heldUpBy(seen);
  if (held !== undefined) {
    return {
      reason: 'RollbackHeldUp',
      message: `spec.rollback does not begin now: ${held}`,
      cure: 'finish that first; the rollback then begins, if it is approved',
      field: 'spec.rollback',
    };
  }
  return rollbackGiven(seen) === wanted.approval ? undefined : notApproved(wanted, seen);
}

function notApproved(wanted: WantedRollback, seen: Pick<Observation, 'cluster'>): Refusal {
  const { object, clusterId, revision, approval } = wanted;
  const after = revision === undefined ? 'the snapshot was taken' : `revision ${revision}`;
  return {
    reason: 'RollbackNotApproved',
    message: `spec.rollback goes back to ${object}: etcd cluster ${clusterId} is given up, and with it everything that was written after ${after}; this takes an approval${voidOne(wanted, rollbackGiven(seen))}`,
    cure: `to approve it: ${annotateCommand('etcdclusters', seen.cluster.metadata, annotations.rollBack, approval)}`,
    field: 'spec.rollback',
  };
}

/** A person may have copied the command of another rollback. */
function voidOne({ clusterId }: WantedRollback, given: string | undefined): string {
  if (given === undefined) return '';
  const other = given.startsWith(`${clusterId}/`) ? 'another snapshot' : 'another etcd cluster';
  return `; the present one (${annotations.rollBack}) is for ${other}, and void`;
}
