import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { Job } from '../../manifests/kube-types.ts';
import { occasions } from '../../manifests/render/backup-before.ts';
import { backupJobName, labels } from '../../manifests/render/names.ts';
import { isControlledBy } from '../../manifests/render/owner-reference.ts';
import { type Kube, KubeError, resources } from '../interfaces/kube.ts';
import { isTrue } from '../objects/conditions.ts';
import { deleteOwn } from './delete-own.ts';
import { hasScratchVolumes, maxAttempts } from './situation.ts';

/**
 * Deletes the Jobs of these attempts to verify, with their pods and volumes. Record the result in the status first:
 * only the pod holds it. @throws {KubeError}
 */
export async function freeScratch(
  kube: Kube,
  { metadata }: EtcdBackup,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name, uid = '' } = metadata;
  for (let attempt = from; attempt <= Math.min(to, maxAttempts); attempt++) {
    const job = await kube.get<Job>(resources.jobs, namespace, backupJobName(name, 'Verify', attempt), { signal });
    if (!job || !isControlledBy(job, uid) || job.metadata.deletionTimestamp !== undefined) continue;
    await deleteOwn(kube, resources.jobs, job.metadata, signal);
  }
}

/**
 * Finishes a backup that has ended, then marks it as settled; a dead invocation leaves the mark to the next one.
 * Returns the backup, unchanged if another invocation was faster. @throws {KubeError}
 */
export async function settle(kube: Kube, backup: EtcdBackup, signal: AbortSignal): Promise<EtcdBackup> {
  const { status } = backup;
  if (status === undefined) return backup;
  const { attempt } = status;
  if (attempt?.stage === 'Verify' && hasScratchVolumes(backup))
    await freeScratch(kube, backup, { from: 1, to: attempt.number }, signal);
  const settled = { ...backup, status: { ...status, settled: true } };
  try {
    return await kube.updateStatus<EtcdBackup>(resources.backups, settled, { signal });
  } catch (error) {
    if (error instanceof KubeError && (error.class === 'precondition' || error.reason === 'NotFound')) return backup;
    throw error;
  }
}

/** Of those that a cluster asked for: for each occasion and cluster ID; and of those that failed. */
const history = { good: 3, failed: 3 } as const;
/** Deletions of one step: the next upgrade goes on. */
const mostForgotten = 20;

/** Deletes earlier backups that a cluster asked for, but for the newest; none in the store. @throws {KubeError} */
export async function forgetEarlier(kube: Kube, ended: EtcdBackup, signal: AbortSignal): Promise<void> {
  const { namespace } = ended.metadata;
  if (occasionOf(ended) === undefined) return;
  const labelSelector = labels.wish;
  const { items } = await kube.list<EtcdBackup>(resources.backups, { namespace, labelSelector, signal });
  const ofCluster = items.filter(
    (one) => one.spec.clusterName === ended.spec.clusterName && occasionOf(one) !== undefined,
  );
  for (const backup of beyondHistory(ofCluster)) await deleteOwn(kube, resources.backups, backup.metadata, signal);
}

function occasionOf({ metadata }: EtcdBackup): string | undefined {
  return Object.values(occasions).find(({ annotation }) => metadata.annotations?.[annotation] !== undefined)?.field;
}

/** Of a life of the cluster that is over, its newest ones stay as well: its data may be had nowhere else. */
function beyondHistory(backups: readonly EtcdBackup[]): readonly EtcdBackup[] {
  const over = backups
    .filter(({ metadata, status }) => status?.finishedAt !== undefined && metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => endOf(b) - endOf(a));
  const isGood = ({ status }: EtcdBackup) => isTrue(status, 'Ready');
  const lives = Map.groupBy(over.filter(isGood), (one) => `${occasionOf(one)} ${one.status?.clusterID}`);
  const good = [...lives.values()].flatMap((life) => life.slice(history.good));
  const failed = over.filter((one) => !isGood(one)).slice(history.failed);
  return [...good, ...failed].toSorted((a, b) => endOf(a) - endOf(b)).slice(0, mostForgotten);
}

function endOf({ status }: EtcdBackup): number {
  return Date.parse(status?.finishedAt ?? '');
}
