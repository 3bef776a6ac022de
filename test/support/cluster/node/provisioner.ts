import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Api, isStatus } from './api.ts';
import { boundedMark, dropFileSystem } from './bounded-volume.ts';
import type { Informer } from './informer.ts';
import { createKeyedWork } from './keyed-work.ts';
import type { Log } from './options.ts';
import { type Claim, keyOf, type PersistentVolume, type StorageClass } from './wire.ts';

export const provisionerName = 'process-node.ratchet.dev/volumes';

/** What volumes are made of. A real node has others: real-node/disks.ts. */
export type Disks = {
  /** Makes what is at the path of a new PersistentVolume. May be asked again for the same. */
  make(path: string, capacity: string): Promise<void>;
  /** Before the path is removed with all that is below it. */
  drop(volume: PersistentVolume): Promise<void>;
};

const directories: Disks = {
  make: async (path) => {
    await mkdir(path, { recursive: true });
    // Any user of a pod may write, as with fsGroup; there is only one user here anyway.
    await chmod(path, 0o777);
  },
  drop: dropFileSystem,
};

export type ProvisionerOptions = {
  readonly api: Api;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** One directory per volume in here. */
  readonly directory: string;
  readonly nodeNames: readonly string[];
  readonly claims: Informer<Claim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly classes: Informer<StorageClass>;
  readonly disks?: Disks;
};

/**
 * Makes a directory and a PersistentVolume for each PVC of our storage classes, on the node that the scheduler
 * selected where the class binds late, and removes both when the volume is released and its policy is Delete. Binding
 * is done by Kubernetes' own controller.
 */
export function startProvisioner(options: ProvisionerOptions): void {
  const { claims, volumes, classes } = options;
  const provisionClaim = createKeyedWork(options, (key) => provision(options, key));
  const reclaimVolume = createKeyedWork(options, (key) => reclaim(options, key));

  claims.onChange((claim) => {
    if (claim) provisionClaim(keyOf(claim));
  });
  classes.onChange(() => {
    for (const claim of claims.list()) provisionClaim(keyOf(claim));
  });
  volumes.onChange((volume) => {
    if (volume) reclaimVolume(keyOf(volume));
  });
}

async function provision(
  { api, claims, volumes, classes, directory, nodeNames, disks = directories }: ProvisionerOptions,
  key: string,
): Promise<void> {
  const claim = claims.get(key);
  const { storageClassName = '', volumeName, resources, accessModes } = claim?.spec ?? {};
  const storageClass = classes.get(storageClassName);
  if (!claim || volumeName || claim.metadata.deletionTimestamp || storageClass?.provisioner !== provisionerName) return;
  const selected = claim.metadata.annotations?.['volume.kubernetes.io/selected-node'];
  if (storageClass.volumeBindingMode === 'WaitForFirstConsumer' && selected === undefined) return;

  const name = `pvc-${claim.metadata.uid}`;
  if (volumes.get(name)) return;
  const path = join(directory, name);
  const capacity = resources?.requests?.storage ?? '1Gi';
  await disks.make(path, capacity);
  const { namespace, uid, name: claimName } = claim.metadata;
  const volume = {
    metadata: {
      name,
      annotations: {
        'pv.kubernetes.io/provisioned-by': provisionerName,
        ...(storageClass.parameters?.bounded === 'true' && boundedMark),
      },
    },
    spec: {
      capacity: { storage: capacity },
      accessModes,
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName,
      volumeMode: 'Filesystem',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claimName, uid },
      local: { path },
      // A disk in a node: the pod can follow its volume, not the other way round.
      nodeAffinity: { required: { nodeSelectorTerms: [onNodes(selected ? [selected] : nodeNames)] } },
    },
  };
  try {
    await api.create('/api/v1/persistentvolumes', volume);
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
  }
}

function onNodes(values: readonly string[]) {
  return { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] };
}

async function reclaim(
  { api, directory, volumes, disks = directories }: ProvisionerOptions,
  key: string,
): Promise<void> {
  const volume = volumes.get(key);
  if (volume?.status?.phase !== 'Released' || volume.spec?.persistentVolumeReclaimPolicy !== 'Delete') return;
  if (volume.metadata.annotations?.['pv.kubernetes.io/provisioned-by'] !== provisionerName) return;
  await disks.drop(volume);
  await rm(join(directory, volume.metadata.name), { recursive: true, force: true });
  try {
    await api.remove(`/api/v1/persistentvolumes/${volume.metadata.name}`, {
      preconditions: { uid: volume.metadata.uid },
    });
  } catch (error) {
    if (!isStatus(error, 404, 409)) throw error;
  }
}
