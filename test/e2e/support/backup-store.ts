import assert from 'node:assert/strict';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { forBackupsLabels } from '../../../manifests/render/offers.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { Scene } from './scene.ts';

/** A PersistentVolumeClaim that backups go to, as `pvc://backups/…`. */
export function backupStore(namespace: string) {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'backups', namespace, labels: forBackupsLabels },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
}

export async function makeBackupStore({ kubectl, namespace }: Pick<Scene, 'kubectl' | 'namespace'>): Promise<void> {
  await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(backupStore(namespace)) });
}

/** The directory on this machine that it stands for. */
export async function storeDirectory({ kube, get }: Pick<Scene, 'kube' | 'get'>): Promise<string> {
  const claim = await get<PersistentVolumeClaim>(resources.volumeClaims, 'backups');
  const name = claim?.spec.volumeName ?? '';
  const volume = await kube.get<PersistentVolume>(resources.persistentVolumes, undefined, name);
  const path = (volume?.spec as { readonly local?: { readonly path: string } } | undefined)?.local?.path;
  return path ?? assert.fail('the store has no disk');
}
