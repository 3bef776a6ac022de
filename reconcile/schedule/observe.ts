import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { Job } from '../../manifests/kube-types.ts';
import { pruneJobName } from '../../manifests/render/names.ts';
import { isControlledBy } from '../../manifests/render/owner-reference.ts';
import { type Kube, resources } from '../interfaces/kube.ts';
import { isOver } from '../jobs/job-end.ts';
import { isKept, ownStatuses } from '../jobs/own-containers.ts';
import { podsOfJob } from '../jobs/pods.ts';
import { pruneEndOf } from './prune-result.ts';
import type { PruneView, ScheduleObservation } from './situation.ts';

/** @throws {KubeError} */
export async function observeSchedule(
  schedule: EtcdBackupSchedule,
  all: readonly EtcdBackup[],
  { kube, signal }: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<ScheduleObservation> {
  const backups = all.filter((one) => isOf(schedule, one));
  const pruning = await readPruning(schedule, kube, signal);
  return { schedule, backups, pruning, now: kube.now() ?? new Date() };
}

/** An object of another namespace may name any owner, until the garbage collector comes by. */
export function isOf({ metadata: { namespace, uid = '' } }: EtcdBackupSchedule, backup: EtcdBackup): boolean {
  return backup.metadata.namespace === namespace && isControlledBy(backup, uid);
}

/** Asked only while the status says that a retention is under way: at rest it costs nothing. */
async function readPruning(
  { metadata, status }: EtcdBackupSchedule,
  kube: Kube,
  signal: AbortSignal,
): Promise<PruneView | undefined> {
  const { namespace, uid = '' } = metadata;
  const last = status?.retention;
  if (last === undefined || last.finishedAt !== undefined) return undefined;
  const name = pruneJobName(last.after);
  const job = await kube.get<Job>(resources.jobs, namespace, name, { signal });
  if (job === undefined) return { kind: 'gone' };
  if (!isControlledBy(job, uid)) return { kind: 'name-taken', job: name };
  const pods = (await podsOfJob(kube, job, signal)).filter((pod) => isControlledBy(pod, job.metadata.uid ?? ''));
  if (!isOver(job) && !pods.some((pod) => isKept(job, pod))) return { kind: 'running' };
  const said = pods.flatMap((pod) => ownStatuses(job, pod)).flatMap(({ state }) => state?.terminated?.message ?? []);
  return { kind: 'ended', end: pruneEndOf(said.at(-1)) };
}
