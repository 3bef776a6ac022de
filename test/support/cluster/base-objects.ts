/** What the process node's volume provisioner answers to. */
export const provisioner = 'process-node.ratchet.dev/volumes';

/**
 * What every test may count on beside what Kubernetes itself creates. One default class, and three for what goes wrong.
 */
export function baseObjects(): string {
  const storageClass = (name: string, options: StorageClassOptions) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name,
      annotations: options.isDefault ? { 'storageclass.kubernetes.io/is-default-class': 'true' } : {},
    },
    provisioner: options.provisioner,
    ...(options.isBounded && { parameters: { bounded: 'true' } }),
    // As with every provider of local disks: where the pod goes decides where the volume is.
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: options.canGrow,
  });
  const items = [
    storageClass('standard', { provisioner, canGrow: true, isDefault: true }),
    storageClass('no-expansion', { provisioner, canGrow: false }),
    // Each volume has a file system of its own, of its very size.
    storageClass('bounded', { provisioner, canGrow: true, isBounded: true }),
    storageClass('missing-provisioner', { provisioner: 'example.com/nobody', canGrow: true }),
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

interface StorageClassOptions {
  readonly provisioner: string;
  readonly canGrow: boolean;
  readonly isDefault?: boolean;
  readonly isBounded?: boolean;
}
