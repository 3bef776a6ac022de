import { type JobWork, jobNameOf } from '../../../manifests/render/names.ts';
import { isOfRecovery, type VolumeRecord } from '../../../manifests/render/volume-record.ts';
import type { RecoveryJobView, RecoveryPodView, RecoveryView } from '../../../reconcile/cluster/know/observation.ts';
import type { FailureReason } from '../../../reconcile/jobs/failure.ts';
import { recordIn } from './objects.ts';
import type { Job, JobPod } from './recovery-state.ts';
import type { Place, World } from './state.ts';

/** What an invocation sees of a recovery, as `read-recovery.ts` reads it. */
export function recoveryOf({ places }: World): RecoveryView | undefined {
  const chosen = places.find((place) =>
    ['recovering', 'recovered', 'restoring', 'restored'].includes(recordIn(place)?.state ?? ''),
  );
  const pods = places.filter(({ jobPod }) => jobPod);
  const asked = chosen ?? pods[0];
  if (!asked) return undefined;
  const { job, name } = asked;
  const record = chosen && recordIn(chosen);
  const isRecovery = record && (isBeingRecovered(record) || isOfRecovery(record));
  // Of the other kind it would have another name.
  const isAskedFor = job && (!chosen || (job.work === 'recovery') === isRecovery);
  return {
    kind: 'known',
    ...(isAskedFor && { job: jobView(name, job) }),
    pods: pods.flatMap(podOf),
    nodes: isToBeFenced(record) ? nodesOf(places) : {},
  };
}

function isBeingRecovered({ state }: VolumeRecord): boolean {
  return state === 'recovering' || state === 'recovered';
}

function isToBeFenced(record: VolumeRecord | undefined): boolean {
  if (record?.state === 'restored') return record.gaveUp !== undefined;
  return record !== undefined && record.state !== 'restoring' && record.recovery?.attempt === 0;
}

function jobView(name: string, { uid, work, attempt, failed, completed, trial, begins }: Job): RecoveryJobView {
  const isOver = failed === true || completed === true;
  const view = { name: jobNameOf(name, work), uid, leaving: false, attempt, failed: isOver };
  const kind = { ...(trial && { trial }), ...(begins !== undefined && { begins: true as const }) };
  return { ...view, ...(completed && { completed }), ...kind };
}

function podOf({ name, jobPod, nodeDead }: Place): readonly RecoveryPodView[] {
  if (!jobPod) return [];
  const { uid, work, leaving, stage, exit } = jobPod;
  return [
    {
      name: recoveryPodName(name, work),
      uid,
      leaving,
      ready: stage === 'ready' && !nodeDead,
      ...podOfRestore(jobPod),
      ...(nodeDead && stage === 'waiting' && { unscheduled: 'Unschedulable' }),
      ...(exit && { failure: failureOf(exit) }),
    },
  ];
}

/** Whose it is, and whether its kubelet has said that it ended well. */
export function podOfRestore({ job, stage }: JobPod): Pick<RecoveryPodView, 'job' | 'succeeded'> {
  return { job, ...(stage === 'done' && { succeeded: true }) };
}

/** As the Job controller makes it up. */
export function recoveryPodName(name: string, work: JobWork): string {
  return `${jobNameOf(name, work)}-0`;
}

const reasons = ['DataPresent', 'NoRoomForTrial', 'NoRoomForCopy'] as const satisfies readonly FailureReason[];

function failureOf({ container, code, reason }: NonNullable<JobPod['exit']>): NonNullable<RecoveryPodView['failure']> {
  const told = reasons.find((one) => one === reason);
  return { container, code, words: 'no', ...(told && { told: { reason: told, message: 'as it is' } }) };
}

/** One for each member, with its disk. */
export function nodeOf(name: string): string {
  return `node-of-${name}`;
}

function nodesOf(places: readonly Place[]): Extract<RecoveryView, { kind: 'known' }>['nodes'] {
  return Object.fromEntries(
    places.map(({ name, nodeDead, off }) => [nodeOf(name), !nodeDead ? 'ready' : off ? 'outOfService' : 'silent']),
  );
}
