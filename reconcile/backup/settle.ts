import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { Job } from '../../manifests/kube-types.ts';
import { backupJobName } from '../../manifests/render/names.ts';
import { isControlledBy } from '../../manifests/render/owner-reference.ts';
import { type Kube, KubeError, resources } from '../interfaces/kube.ts';
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
