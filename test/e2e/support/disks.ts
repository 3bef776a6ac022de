import { cp, mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { node } from './node.ts';
import { until } from './until.ts';

/** What a snapshot of a disk, and a backup of its PVC, have of one member. */
export interface DiskCopy {
  readonly claim: PersistentVolumeClaim;
  readonly pv: PersistentVolume;
  /** Where the copied files are. */
  readonly path: string;
}

type Local = { readonly local?: { readonly path: string } };

/** As a storage snapshot does it: at one moment, under the member that runs, of which nothing is told. */
export async function copyDisk(kube: Kube, namespace: string, name: string): Promise<DiskCopy> {
  const claim = await kube.get<PersistentVolumeClaim>(resources.volumeClaims, namespace, name);
  const pv = await kube.get<PersistentVolume>(resources.persistentVolumes, undefined, claim?.spec.volumeName ?? '');
  const from = (pv?.spec as Local | undefined)?.local?.path;
  if (!claim || !pv || from === undefined) throw new Error(`${name} has no disk to copy`);
  const path = await mkdtemp(join(dirname(from), 'copy-'));
  await node().freezePod(namespace, `${name}-0`);
  await cp(from, path, { recursive: true });
  await node().thawPod(namespace, `${name}-0`);
  return { claim, pv, path };
}

let restored = 0;

/**
 * Under its old name, with all its annotations, on a disk of its own: as backup tools, and restores of a snapshot,
 * leave it.
 */
export async function restoreClaim(kube: Kube, { claim, pv, path }: DiskCopy): Promise<void> {
  const { namespace = '', name, labels, annotations } = claim.metadata;
  restored += 1;
  const volumeName = `${name}-restored-${restored}`;
  // A restore from a copy leaves the copy as it is.
  const own = await mkdtemp(join(dirname(path), 'restored-'));
  await cp(path, own, { recursive: true });
  const kept = Object.entries(annotations ?? {}).filter(([key]) => !/kubernetes\.io\//.test(key));
  const { claimRef: _, ...spec } = pv.spec as NonNullable<PersistentVolume['spec']> & { readonly claimRef?: unknown };
  await until('the old claim to go', async () => !(await kube.get(resources.volumeClaims, namespace, name)));
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name };
  await kube.create<PersistentVolume>(resources.persistentVolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeName },
    spec: { ...spec, local: { path: own }, claimRef, persistentVolumeReclaimPolicy: 'Retain' } as NonNullable<
      PersistentVolume['spec']
    >,
  });
  await kube.create<PersistentVolumeClaim>(resources.volumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace, ...(labels && { labels }), annotations: Object.fromEntries(kept) },
    spec: { ...claim.spec, volumeName },
  });
}
