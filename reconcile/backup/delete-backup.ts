import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import { isReason, type Kube, resources } from '../kube.ts';

/** This very EtcdBackup, and nothing in the store. Fine where it is gone. @throws {KubeError} */
export async function deleteBackup(kube: Kube, { metadata }: EtcdBackup, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid = '' } = metadata;
  const options = { preconditions: { uid }, propagation: 'Background', signal } as const;
  try {
    await kube.delete(resources.backups, namespace, name, options);
  } catch (error) {
    // Another one of that name by now: it is none of what was decided about.
    if (!isReason(error, 'Conflict')) throw error;
  }
}
