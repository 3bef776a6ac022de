import { kubectl } from '../../../../../manifests/render/kubectl.ts';
import { annotations, recoveryContainers } from '../../../../../manifests/render/names.ts';
import { setAsideCodes } from '../../../../../manifests/render/recovery-job.ts';
import { failures } from '../../../../jobs/failure.ts';
import { cureOfStart } from '../../../../jobs/pod-start.ts';
import { act, type Decision, refuse, refuseUntil, wait } from '../../../know/decision.ts';
import type { RecoveryJobView, RecoveryPodView } from '../../../know/observation.ts';
import { isKilled, isLasting } from '../../../know/pods/job-pod.ts';
import { approvalGiven } from '../../../know/recovery/lost.ts';
import type { Ref } from '../../../know/ref.ts';
import type { Situation } from '../../../know/situation.ts';
import { revisionsGoBack } from '../../restoring.ts';
import { pauseLeft } from './after-job.ts';

/** The Job of a recovery that does not start, or has failed: what is tried again, and what is left to a person. */

/** Kubelet's or the scheduler's word for it, or what events say of a pod that has no volume, or was never made. */
export function notStarting(
  job: RecoveryJobView,
  pod: RecoveryPodView | undefined,
  { cluster }: Situation,
): Decision | undefined {
  const { name, notStarted } = job;
  const word = [pod?.waiting ?? pod?.unscheduled].find((one) => one !== undefined && isLasting(one));
  const reason = word ?? notStarted?.reason;
  if (reason === undefined) return undefined;
  const what = pod ? `pod ${pod.name}` : `job ${name}`;
  const message = word === undefined && notStarted ? `: ${notStarted.message}` : '';
  return refuse(
    'RecoveryPodStuck',
    `the pod of Job ${name} does not start (${reason}${message})`,
    `${cureOfStart(reason)}, or correct the spec: the recovery then goes on; what else there is to see: ${kubectl(cluster.metadata, `describe ${what}`)}`,
  );
}

/** A failure that another attempt may cure is tried again; a failure that names its cause is left to a person. */
export function failed(
  name: string,
  pod: RecoveryPodView | undefined,
  job: RecoveryJobView,
  situation: Situation,
): Decision {
  const { cluster } = situation;
  const failure = pod?.failure;
  const again = repeating(job);
  if (failure?.reason === 'OOMKilled') {
    return refuse(
      'RecoveryOutOfMemory',
      `container ${failure.container} of Job ${job.name} was killed because it has too little memory`,
      'raise spec.resources.limits.memory: the Job is then recreated',
    );
  }
  if (failure === undefined || isKilled(failure) || comesTooLate(failure)) return again;
  const { told } = failure;
  if (told && failures[told.reason] === 'retry') return afterAPause(job, told.message, situation);
  if (hasNoRoom(failure)) return mayDoWithoutCopy(situation) ? again : noRoom(name, job, failure, situation);
  const { namespace = 'default' } = cluster.metadata;
  const data = job.begins ? 'are as they were' : 'from before it are in before-recovery-… on its volume';
  return refuse(
    'RecoveryFailed',
    `Job ${job.name} has failed in container ${failure.container}: ${told?.message ?? (failure.words || `exit code ${failure.code}`)}`,
    `correct that, then kubectl -n ${namespace} delete job ${job.name}: it is recreated; the data of ${name} ${data}`,
  );
}

type Failure = NonNullable<RecoveryPodView['failure']>;

function comesTooLate({ container, code, told }: Failure): boolean {
  return (
    told?.reason === 'Superseded' || (container === recoveryContainers.setAside && code === setAsideCodes.ranAlready)
  );
}

function hasNoRoom({ container, code, told }: Failure): boolean {
  return (
    told?.reason === 'NoRoomForCopy' || (container === recoveryContainers.setAside && code === setAsideCodes.noRoom)
  );
}

function noRoom(name: string, job: RecoveryJobView, { words, told }: Failure, situation: Situation): Decision {
  const { cluster } = situation;
  const { namespace = 'default' } = cluster.metadata;
  const goesBack = job.begins ? `${revisionsGoBack}; and ` : 'nothing by itself; but ';
  const lacks = job.begins
    ? `volume ${name} has no room for the new life that is to be made of a copy of its data`
    : `volume ${name} has no room for the safety copy that precedes --force-new-cluster`;
  return refuseUntil(
    {
      approval: {
        annotation: annotations.recoverQuorum,
        value: withoutCopyText(situation),
        approves: `the recovery of ${cluster.metadata.name} from the data of ${name} goes on without a copy of them`,
        loses: `${goesBack}if the recovery damages the data of ${name}, there are no others: everything is lost then`,
      },
      cure: `enlarge PersistentVolumeClaim ${name} (spec.resources.requests.storage; and spec.storage.size likewise), then kubectl -n ${namespace} delete job ${job.name}; or save its disk, and approve the recovery without a copy`,
      cluster,
    },
    'NoRoomForCopy',
    `${lacks}: ${told?.message ?? words}`,
  );
}

/** In seconds, where the same request may succeed later. */
const pause = 30;

function afterAPause(job: RecoveryJobView, said: string, { at }: Situation): Decision {
  const afterSeconds = pauseLeft(job, pause, at);
  if (afterSeconds === 0) return repeating(job);
  return wait('RecoveringData', `Job ${job.name} failed, and is made again soon: ${said}`, {
    on: 'time',
    afterSeconds,
  });
}

/** The existing Job is deleted with its pod; then the next one is made. */
export function repeating({ name, uid }: Ref): Decision {
  return act(
    { kind: 'delete-recovery-job', job: { name, uid } },
    'RepeatingRecovery',
    `Job ${name} ended without a result: it is recreated; no client was admitted yet`,
  );
}

function withoutCopyText({ life }: Situation): string {
  return `${life.stage === 'born' ? life.clusterId : ''}/without-copy`;
}

export function mayDoWithoutCopy(situation: Situation): boolean {
  return approvalGiven(situation) === withoutCopyText(situation);
}
