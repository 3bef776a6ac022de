import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { Storage } from '../api/member-settings.ts';
import { parseQuantity } from '../api/quantity.ts';
import { isRecord } from '../json.ts';
import type { PersistentVolumeClaim } from '../kube-types.ts';
import { canonicalJson } from './canonical-json.ts';
import { group, peerLabels } from './names.ts';
import { unstarted, type VolumeRecord, writeVolumeRecord } from './volume-record.ts';

/** The parts of a peer that its volume needs: it is made before the peer, and outlives it. */
export interface VolumeInputs {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Pick<EtcdPeer['spec'], 'clusterName' | 'storage'>;
}

/** A member is born on an empty file system of its own: not on a copy, not on a volume picked by name. */
const droppedFields: Readonly<Record<string, string>> = {
  volumeMode: 'etcd needs a file system',
  dataSource: 'a member starts empty; to restore data, restore a snapshot',
  dataSourceRef: 'a member starts empty; to restore data, restore a snapshot',
  volumeName: 'one volume cannot serve several members; use a selector or a storage class',
  storageClassName: 'use storage.storageClassName',
};

/**
 * The PVC of one peer. It has no owner: only a step ever deletes data, never a garbage collector. Our fields override
 * the template's; a later template changes no PVC, since Kubernetes lets a PVC only grow. On a new PVC no member was
 * ever started, whatever is known of an earlier one.
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
      labels: { ...notOurs(volumeClaimTemplate?.metadata?.labels), ...peerLabels(peer.spec.clusterName, name) },
      annotations: { ...notOurs(volumeClaimTemplate?.metadata?.annotations), ...writeVolumeRecord(unstarted(record)) },
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...Object.fromEntries(Object.entries(template).filter(([field]) => !Object.hasOwn(droppedFields, field))),
      ...(storageClassName !== undefined && { storageClassName }),
      resources: { ...resources, requests: { ...requests, storage: size } },
    },
  };
}

/** What of a `volumeClaimTemplate` has no effect here, as fields with a reason; empty when there is nothing. */
export function reservedInClaim({ volumeClaimTemplate }: Storage): string[] {
  const { metadata, spec } = volumeClaimTemplate ?? {};
  return [
    ...Object.keys({ ...metadata?.labels, ...metadata?.annotations })
      .filter((key) => key.startsWith(`${group}/`))
      .map((key) => `metadata: ${key} is set by etcd-ratchet`),
    ...Object.entries(droppedFields).flatMap(([field, why]) =>
      spec?.[field] === undefined ? [] : [`spec.${field}: ${why}`],
    ),
  ];
}

/** An annotation of ours that a template brought would be taken for what the volume remembers. */
function notOurs(map: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !key.startsWith(`${group}/`)));
}

/** Whether both ask for the same PVC; two spellings of one size are the same. */
export function sameStorage(a: Storage, b: Storage): boolean {
  return comparable(a) === comparable(b);
}

function comparable(storage: Storage): string {
  return canonicalJson({ ...storage, size: parseQuantity(storage.size) });
}
