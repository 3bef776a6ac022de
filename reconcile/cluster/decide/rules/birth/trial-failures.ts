import { approveCommand, kubectl } from '../../../../../manifests/render/kubectl.ts';
import { annotations } from '../../../../../manifests/render/names.ts';
import { untried, wantedRollback } from '../../../know/backups/rollback.ts';
import { type Decision, refuse } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';
import type { FailedRestore } from './failed-restore.ts';

/** A rollback whose restored data no etcd serves, or that lacks the room to see it: nothing was given up for it. */

export function trialFailed(restore: FailedRestore, situation: Situation): Decision {
  const { name, failure, wanted } = restore;
  const { version } = situation.effective.inputs;
  const what = `etcd ${version} does not serve a copy of what was restored to ${name} of ${wanted.object}`;
  const end = endOf(restore);
  if (failure?.reason === 'OOMKilled')
    return refuse(
      'RollbackTrialFailed',
      `${what}: ${end}; ${asItWas}`,
      `raise spec.resources.limits.memory; ${again(restore, situation)}`,
    );
  return refuse(
    'RollbackTrialFailed',
    `${what}: ${end}; ${asItWas}`,
    `name another snapshot in ${wanted.field}; or call the rollback off: ${takesBack(situation)}; ${again(restore, situation)}`,
  );
}

/** The approval is of this snapshot, and says that it goes without. */
export function noRoomForTrial(restore: FailedRestore, said: string, situation: Situation): Decision {
  const { cluster } = situation;
  const { name, wanted } = restore;
  const asked = wantedRollback(situation);
  const message = `an etcd is to serve a copy of what was restored to ${name} before anything is given up for it, and there is no room: ${said}; ${asItWas}`;
  const larger = `raise spec.storage.size, and begin the rollback anew: ${takesBack(situation)}, then approve it again`;
  if (!asked) return refuse('RollbackTrialNoRoom', message, larger);
  const approval = {
    annotation: annotations.rollBack,
    value: untried(asked.approval),
    approves: `spec.rollback goes back to ${wanted.object} without a trial of what is restored`,
    loses: `etcd cluster ${asked.clusterId} is given up, and nothing shows before that an etcd serves what takes its place`,
  };
  const waives = `go without the trial: ${approveCommand('etcdclusters', cluster.metadata, approval)}`;
  return { ...refuse('RollbackTrialNoRoom', message, `${larger}; or ${waives}`), approval };
}

const asItWas = 'the present cluster is as it was';

function endOf({ failure }: FailedRestore): string {
  if (!failure) return 'its pod ended without a result';
  const { told, words, code, reason } = failure;
  if (reason === 'OOMKilled') return 'it was killed because it has too little memory';
  return told?.message ?? `it exits with ${code}${words === '' ? '' : `, and last logged: ${words}`}`;
}

function again({ job, wanted }: FailedRestore, { cluster }: Situation): string {
  return `it is tried again when ${wanted.field} or the members' settings change, or after: ${kubectl(cluster.metadata, `delete job ${job.name}`)}`;
}

function takesBack({ cluster }: Situation): string {
  const { name, namespace } = cluster.metadata;
  return kubectl({ namespace }, `annotate etcdclusters.etcd.ratchet.dev ${name} ${annotations.rollBack}-`);
}
