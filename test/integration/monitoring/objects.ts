import type { Kind } from '../../../manifests/api/group.ts';
import {
  fullBackup,
  fullCluster,
  fullFleet,
  fullNodePolicy,
  fullRestore,
  fullSchedule,
  peer,
} from '../../unit/manifests/api-documents.ts';

/** 2026-01-02T03:04:05Z, as a status and as a metric have it. */
export const at = '2026-01-02T03:04:05Z';
export const atSeconds = 1_767_323_045;

const condition = (type: string, status: 'True' | 'False' | 'Unknown', reason: string) => ({
  type,
  status,
  reason,
  message: 'in words',
  lastTransitionTime: at,
  observedGeneration: 1,
});
const approval = (annotation: string, reason: string) => ({
  annotation,
  reason,
  value: 'a value',
  approves: 'to go on',
  loses: 'what was written since',
});

/** One object of each kind, with a status in which every metric finds something. */
export const objects: Readonly<Record<Kind, { readonly document: object; readonly status: object }>> = {
  EtcdFleet: {
    document: fullFleet,
    status: {
      observedGeneration: 1,
      lastRun: at,
      clusters: { total: 5, ready: 3, reconciling: 1, stalled: 1 },
      problemCount: 2,
      approvals: [approval('etcd.ratchet.dev/confirm-prune', 'PruneAsked')],
      conditions: [condition('Ready', 'False', 'ClustersNotReady'), condition('Stalled', 'True', 'InvalidSpec')],
    },
  },
  EtcdCluster: {
    document: fullCluster,
    status: {
      observedGeneration: 1,
      clusterID: '8c9d0a1b2c3d4e5f',
      version: '3.6.16',
      leader: 'orders-0',
      replicas: 3,
      readyReplicas: 2,
      members: [
        { name: 'orders-0', healthy: true, dbBytes: 4096, dbInUseBytes: 1024 },
        { name: 'orders-1', healthy: true, dbBytes: 8192, dbInUseBytes: 2048 },
        { name: 'orders-2', healthy: false },
      ],
      certificates: { notAfter: at, secretName: 'orders-ca', renewAfter: at },
      refusals: [{ reason: 'VersionRefused', message: 'in words', field: 'spec.version' }],
      approvals: [
        approval('etcd.ratchet.dev/recover-quorum', 'QuorumLost'),
        approval('etcd.ratchet.dev/replace-member', 'HealingHeld'),
      ],
      conditions: [
        condition('Available', 'False', 'QuorumLost'),
        condition('Stalled', 'True', 'QuorumLost'),
        condition('Ready', 'Unknown', 'QuorumLost'),
      ],
    },
  },
  EtcdPeer: {
    document: peer,
    status: { observedGeneration: 1, ready: true, conditions: [condition('Ready', 'True', 'Healthy')] },
  },
  EtcdBackup: {
    document: fullBackup,
    status: {
      observedGeneration: 1,
      takenAt: at,
      bytes: 123_456,
      verified: { at, revision: 7, etcdVersion: '3.6.16', took: '3s' },
      conditions: [condition('Ready', 'True', 'Verified')],
    },
  },
  EtcdBackupSchedule: {
    document: fullSchedule,
    status: {
      observedGeneration: 1,
      nextAt: at,
      lastGood: { name: 'nightly-1', object: 'nightly-1.db', takenAt: at },
      conditions: [condition('Stalled', 'True', 'LastBackupFailed')],
    },
  },
  EtcdRestore: {
    document: fullRestore,
    status: { observedGeneration: 1, conditions: [condition('Ready', 'False', 'Waiting')] },
  },
  EtcdNodePolicy: {
    document: fullNodePolicy,
    status: {
      observedGeneration: 1,
      nodes: 9,
      needed: 4,
      inProgress: 1,
      done: 12,
      blocked: [{ node: 'node-1', reason: 'MembersUnready', message: 'in words' }],
      conditions: [condition('Stalled', 'True', 'NodeStuck')],
    },
  },
};
