import type { Scene } from './scene.ts';

/** A PersistentVolumeClaim that backups go to, as `pvc://backups/…`. */
export function backupStore(namespace: string) {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'backups', namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
}

export async function makeBackupStore({ kubectl, namespace }: Pick<Scene, 'kubectl' | 'namespace'>): Promise<void> {
  await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(backupStore(namespace)) });
}
