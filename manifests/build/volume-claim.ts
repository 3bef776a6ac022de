import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { Storage } from '../api/member-settings.ts';
import { parseQuantity } from '../api/quantity.ts';
import type { PersistentVolumeClaim } from '../kube-types.ts';
import { canonicalJson } from './canonical-json.ts';
import { isRecord } from './is-record.ts';
import { peerLabels } from './names.ts';
import { type VolumeRecord, writeVolumeRecord } from './volume-record.ts';

/** What is needed of a peer: its volume is made before it, and outlives it. */
export interface VolumeInputs {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Pick<EtcdPeer['spec'], 'clusterName' | 'storage'>;
}

/**
 * The claim of one peer's volume.
 *
 * Without owner, so that no garbage collector ever takes data with it: deleting it is always a step of its own. Of the
 * template, size, labels and annotations that are ours win; a template that changes after birth changes no claim, since
 * Kubernetes lets a claim only grow.
 */
export function volumeClaim(peer: VolumeInputs, record: VolumeRecord): PersistentVolumeClaim {
  const { name, namespace } = peer.metadata;
  const { size, storageClassName, volumeClaimTemplate } = peer.spec.storage;
  const template = volumeClaimTemplate?.spec ?? {};
  const resources = isRecord(template.resources) ? template.resources : {};
  const requests = isRecord(resources.requests) ? resources.requests : {};
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { ...volumeClaimTemplate?.metadata?.labels, ...peerLabels(peer.spec.clusterName, name) },
      annotations: { ...volumeClaimTemplate?.metadata?.annotations, ...writeVolumeRecord(record) },
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClassName !== undefined && { storageClassName }),
      ...template,
      resources: { ...resources, requests: { ...requests, storage: size } },
    },
  };
}

/** Whether both ask for the same claim; two spellings of one size are the same. */
export function sameStorage(a: Storage, b: Storage): boolean {
  return comparable(a) === comparable(b);
}

function comparable(storage: Storage): string {
  return canonicalJson({ ...storage, size: parseQuantity(storage.size) });
}
