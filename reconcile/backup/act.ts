import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Egress } from '../../manifests/egress/egress.ts';
import type { Job } from '../../manifests/kube-types.ts';
import { takeJob, verifyJob } from '../../manifests/render/backup-jobs.ts';
import { annotations } from '../../manifests/render/names.ts';
import { isControlledBy } from '../../manifests/render/owner-reference.ts';
import { type Kube, KubeError, resources } from '../interfaces/kube.ts';
import type { BackupDecision } from './decision.ts';
import { deleteOwn } from './delete-own.ts';
import type { Outcome } from './report.ts';
import { freeScratch, settle } from './settle.ts';
import { type BackupSituation, hasScratchVolumes, isFinished, isSettled, type JobView } from './situation.ts';

export interface BackupContext {
  readonly kube: Kube;
  readonly clusters: readonly EtcdCluster[];
  /** Our own, for the Jobs. */
  readonly image: () => Promise<string>;
  readonly egress?: Egress | undefined;
  readonly signal: AbortSignal;
}

/** Once it is told how an attempt to verify ended, nothing needs the volume any more that it was restored to. */
export async function tidy(
  told: EtcdBackup,
  { attempt: { stage, number }, job }: BackupSituation,
  decision: BackupDecision,
  { kube, signal }: BackupContext,
): Promise<EtcdBackup> {
  const { namespace } = told.metadata;
  // Its word is written down by now: the next Job may need its volume.
  if (job && isKeptJob(job) && (isFinished(told) || told.status?.attempt?.job !== job.name))
    await deleteOwn(kube, resources.jobs, { ...job, namespace }, signal);
  if (!isSettled(told) && isFinished(told)) return settle(kube, told, signal);
  if (decision.kind === 'retry' && stage === 'Verify' && hasScratchVolumes(told))
    await freeScratch(kube, told, { from: number, to: number }, signal);
  return told;
}

function isKeptJob({ ours, state }: JobView): boolean {
  return ours && state.kind === 'said' && state.kept === true;
}

export async function actOnBackup(
  { backup }: BackupSituation,
  decision: Exclude<BackupDecision, { readonly kind: 'rest' }>,
  { kube, image, egress, signal }: BackupContext,
): Promise<Outcome> {
  switch (decision.kind) {
    case 'take':
      return make(kube, backup, takeJob(backup, { ...decision.order, image: await image(), egress }), signal);
    case 'verify':
      // What earlier attempts have left, where the invocation that told of them was ended then.
      if (hasScratchVolumes(backup))
        await freeScratch(kube, backup, { from: 1, to: decision.order.attempt - 1 }, signal);
      return make(kube, backup, verifyJob(backup, { ...decision.order, image: await image(), egress }), signal);
    case 'retry':
    case 'fail': {
      const { job } = decision;
      if (job) await deleteOwn(kube, resources.jobs, { ...job, namespace: backup.metadata.namespace }, signal);
      return { kind: 'none' };
    }
    case 'wait':
    case 'done':
      return { kind: 'none' };
  }
}

/**
 * The Job's name is the lock: a second invocation is refused, and reports the existing Job. So does the step after one
 * that ended before it could report.
 */
async function make(kube: Kube, backup: EtcdBackup, job: Job, signal: AbortSignal): Promise<Outcome> {
  const { name, namespace } = job.metadata;
  try {
    await kube.create(resources.jobs, job, { signal });
    return { kind: 'acted', object: objectOf(job) };
  } catch (error) {
    // Without an answer the status can't be written, either.
    if (!(error instanceof KubeError) || error.status === undefined) throw error;
    if (error.reason !== 'AlreadyExists')
      return {
        kind: error.class === 'terminal' ? 'refused' : 'delayed',
        message: `Job ${name} is refused: ${error.message}`,
      };
  }
  const found = await kube.get<Job>(resources.jobs, namespace, name, { signal });
  if (found && isControlledBy(found, backup.metadata.uid ?? '')) return { kind: 'acted', object: objectOf(found) };
  const cure = 'delete it, or create an EtcdBackup of another name';
  return { kind: 'refused', message: `Job ${name} belongs to something else: ${cure}` };
}

function objectOf({ metadata }: Job): string {
  return metadata.annotations?.[annotations.object]?.slice(0, 1100) ?? '';
}
