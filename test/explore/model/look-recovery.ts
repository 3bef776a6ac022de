import { type JobWork, jobNameOf } from '../../../manifests/render/names.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import type { RecoveryJobView, RecoveryPodView, RecoveryView } from '../../../reconcile/cluster/know/observation.ts';
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
  const isRecovery = record?.state === 'recovering' || record?.state === 'recovered';
  // Of the other kind it would have another name.
  const isAskedFor = job && (!chosen || (job.work === 'recovery') === isRecovery);
  return {
    kind: 'known',
    ...(isAskedFor && { job: jobView(name, job) }),
    pods: pods.flatMap(podOf),
    nodes: isToBeFenced(record) ? nodesOf(places) : {},
  };
}

function isToBeFenced(record: VolumeRecord | undefined): boolean {
  if (record?.state === 'restored') return record.gaveUp !== undefined;
  return record !== undefined && record.state !== 'restoring' && record.recovery?.attempt === 0;
}

function jobView(name: string, { uid, work, attempt, failed, completed, trial }: Job): RecoveryJobView {
  const isOver = failed === true || completed === true;
  const view = { name: jobNameOf(name, work), uid, leaving: false, attempt, failed: isOver };
  return { ...view, ...(completed && { completed }), ...(trial && { trial }) };
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

function failureOf({ container, code, reason }: NonNullable<JobPod['exit']>): NonNullable<RecoveryPodView['failure']> {
  const told =
    reason === 'DataPresent' || reason === 'NoRoomForTrial' ? ({ reason, message: 'as it is' } as const) : undefined;
  return { container, code, words: 'no', ...(told && { told }) };
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
