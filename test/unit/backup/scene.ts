import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Job, Pod } from '../../../manifests/kube-types.ts';
import type { BackupRecord } from '../../../reconcile/backup/agent/record.ts';
import { backup as plain, cluster as plainCluster } from '../manifests/api-documents.ts';

export const uid = 'b7f6d3a0-0000-4000-8000-000000000001';
export const object = 'pvc://backups/default/orders/20261122T230000Z.db';
export const at = new Date('2026-11-22T23:00:00Z');

export function backupWith(
  status: Omit<NonNullable<EtcdBackup['status']>, 'observedGeneration'> = {},
  spec: Partial<EtcdBackup['spec']> = {},
): EtcdBackup {
  return {
    ...plain,
    metadata: {
      ...plain.metadata,
      uid,
      generation: 1,
      resourceVersion: '1',
      creationTimestamp: '2026-11-22T22:59:00Z',
    },
    spec: { ...plain.spec, ...spec },
    status: { observedGeneration: 1, ...status },
  };
}

export const serving: EtcdCluster = {
  ...plainCluster,
  metadata: { ...plainCluster.metadata, uid: 'c', generation: 1 },
  status: {
    observedGeneration: 1,
    clusterID: 'cafe',
    members: [
      { name: 'orders-0', role: 'Voter', healthy: true },
      { name: 'orders-1', role: 'Voter', healthy: false },
      { name: 'orders-2', role: 'Learner', healthy: true },
    ],
    conditions: [
      {
        type: 'Available',
        status: 'True',
        reason: 'QuorumServes',
        message: 'x',
        lastTransitionTime: '2026-11-22T22:00:00Z',
      },
    ],
  },
};

export const record: BackupRecord = {
  format: 1,
  id: uid,
  object,
  bytes: 20_512,
  sha256: 'a'.repeat(64),
  version: 'v',
  snapshot: { bytes: 20_512, sha256: 'a'.repeat(64) },
  compression: 'none',
  encryption: 'none',
  etcdVersion: '3.6.16',
  clusterId: 'cafe',
  memberId: '1',
  revision: 41,
  revisionAtMost: 45,
  hashKV: { hash: 7, revision: 41, compactRevision: -1 },
  takenAt: '2026-11-22T22:59:30.123Z',
  tookMs: 1234,
};

export const proof = { revision: 45, hashKV: record.hashKV, etcdVersion: '3.6.16', tookMs: 2345 };

export function jobWith(condition?: { readonly type: string; readonly reason?: string }): Job {
  return {
    metadata: {
      name: 'orders-before-upgrade-take-1',
      namespace: 'default',
      uid: 'job-1',
      creationTimestamp: '2026-11-22T22:59:10Z',
      annotations: { 'etcd.ratchet.dev/object': object },
      ownerReferences: [
        { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdBackup', name: 'x', uid, controller: true },
      ],
    },
    spec: {
      template: {
        spec: {
          initContainers: ['stage', 'restore', 'etcd', 'compare'].map((name) => ({ name })),
          containers: [{ name: 'agent' }],
        },
      },
    },
    status: condition ? { conditions: [{ ...condition, status: 'True' }] } : {},
  };
}

interface Ended {
  readonly name?: string;
  readonly exitCode: number;
  readonly message?: string;
  readonly reason?: string;
}

export function podWith(ended: readonly Ended[], status: Pod['status'] = {}): Pod {
  return {
    metadata: {
      name: 'p',
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'job-1', controller: true }],
    },
    spec: { nodeName: 'node', containers: [] },
    status: {
      ...status,
      containerStatuses: ended.map(({ name = 'agent', ...terminated }) => ({
        name,
        ready: false,
        restartCount: 0,
        state: { terminated },
      })),
    },
  };
}
