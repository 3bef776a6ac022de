import { etcdBackupRules, etcdBackupSpecSchema, etcdBackupStatusSchema } from './etcd-backup.ts';
import {
  etcdBackupScheduleRules,
  etcdBackupScheduleSpecSchema,
  etcdBackupScheduleStatusSchema,
} from './etcd-backup-schedule.ts';
import { etcdClusterRules, etcdClusterSpecSchema } from './etcd-cluster.ts';
import { etcdClusterStatusSchema } from './etcd-cluster-status.ts';
import { etcdFleetRules, etcdFleetSpecSchema } from './etcd-fleet.ts';
import { etcdFleetStatusSchema } from './etcd-fleet-status.ts';
import { etcdNodePolicyRules, etcdNodePolicySpecSchema, etcdNodePolicyStatusSchema } from './etcd-node-policy.ts';
import { etcdPeerRules, etcdPeerSpecSchema, etcdPeerStatusSchema } from './etcd-peer.ts';
import { etcdRestoreRules, etcdRestoreSpecSchema, etcdRestoreStatusSchema } from './etcd-restore.ts';
import type { Kind } from './group.ts';
import type { Rule } from './rule.ts';
import { forCopies, type Structural, structural } from './schema.ts';

/** All that is known about a kind: what the CRD is generated from, and what the validator walks. */
export interface KindDefinition {
  readonly kind: Kind;
  readonly description: string;
  readonly plural: string;
  readonly singular: string;
  readonly categories: readonly string[];
  readonly spec: Structural;
  readonly status: Structural;
  readonly rules: readonly Rule[];
  readonly scale?: true;
  /** It belongs to no namespace. */
  readonly clusterScoped?: true;
  readonly columns: readonly Column[];
  /** Fields that the API server selects by, besides name and namespace: JSON paths of plain values. */
  readonly selectable?: readonly string[];
}

interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** 0 unless said otherwise; columns of priority 1 are for `-o wide`. */
  readonly priority?: 1;
}

/** In every kind alike: the condition Ready, and its reason. */
const ready: Column = { name: 'Ready', type: 'string', jsonPath: condition('status') };
const reason: Column = {
  name: 'Reason',
  type: 'string',
  jsonPath: condition('reason'),
  description: "Ready's reason, in a word.",
};
const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

export const definitions: Readonly<Record<Kind, KindDefinition>> = {
  EtcdFleet: {
    kind: 'EtcdFleet',
    description: 'One Git repository, ref and path whose EtcdClusters are kept live; its status is the roll-up.',
    plural: 'etcdfleets',
    singular: 'etcdfleet',
    categories: ['etcd-ratchet'],
    spec: structural(etcdFleetSpecSchema),
    status: structural(etcdFleetStatusSchema),
    rules: etcdFleetRules,
    columns: [
      ready,
      { name: 'Revision', type: 'string', jsonPath: '.status.revision.applied' },
      { name: 'Clusters', type: 'integer', jsonPath: '.status.clusters.total' },
      { name: 'Message', type: 'string', jsonPath: condition('message') },
      {
        name: 'Last Run',
        type: 'date',
        jsonPath: '.status.lastRun',
        description: 'How long ago a tick looked at it. After more than a few minutes its trigger has stopped.',
      },
      age,
      { name: 'Reconciling', type: 'integer', jsonPath: '.status.clusters.reconciling', priority: 1 },
      { name: 'Stalled', type: 'integer', jsonPath: '.status.clusters.stalled', priority: 1 },
      { name: 'URL', type: 'string', jsonPath: '.spec.git.url', priority: 1 },
    ],
  },
  EtcdCluster: {
    kind: 'EtcdCluster',
    description: 'One etcd cluster, desired and observed.',
    plural: 'etcdclusters',
    singular: 'etcdcluster',
    categories: ['etcd-ratchet', 'all'],
    spec: structural(etcdClusterSpecSchema),
    status: structural(etcdClusterStatusSchema),
    rules: etcdClusterRules,
    scale: true,
    columns: [
      ready,
      reason,
      {
        name: 'Members',
        type: 'string',
        jsonPath: '.status.membersReady',
        description: 'Members that are healthy, of those that are asked for.',
      },
      { name: 'Version', type: 'string', jsonPath: '.status.version', description: 'What the members run.' },
      { name: 'Leader', type: 'string', jsonPath: '.status.leader' },
      age,
      { name: 'Desired Version', type: 'string', jsonPath: '.spec.version', priority: 1 },
      { name: 'Cluster ID', type: 'string', jsonPath: '.status.clusterID', priority: 1 },
      {
        name: 'Certificates Until',
        type: 'string',
        jsonPath: '.status.certificates.notAfter',
        description: 'When the first certificate ends.',
        priority: 1,
      },
      { name: 'Message', type: 'string', jsonPath: condition('message'), priority: 1 },
    ],
  },
  EtcdPeer: {
    kind: 'EtcdPeer',
    description:
      'One member of a cluster: its ordinal, version, bootstrap settings and storage. Written by etcd-ratchet.',
    plural: 'etcdpeers',
    singular: 'etcdpeer',
    categories: ['etcd-ratchet'],
    spec: forCopies(structural(etcdPeerSpecSchema)),
    status: structural(etcdPeerStatusSchema),
    rules: etcdPeerRules,
    columns: [
      { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterName' },
      { name: 'Role', type: 'string', jsonPath: '.status.role' },
      { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' },
      { name: 'Version', type: 'string', jsonPath: '.status.version' },
      { name: 'Member ID', type: 'string', jsonPath: '.status.memberID' },
      { name: 'Volume', type: 'string', jsonPath: '.status.volumeState' },
      age,
    ],
  },
  EtcdBackup: {
    kind: 'EtcdBackup',
    description:
      'One backup of one etcd cluster: a snapshot in a store, proven by a restore. It is taken once; deleting this leaves the object where it is.',
    plural: 'etcdbackups',
    singular: 'etcdbackup',
    categories: ['etcd-ratchet'],
    spec: structural(etcdBackupSpecSchema),
    status: structural(etcdBackupStatusSchema),
    rules: etcdBackupRules,
    selectable: ['.status.settled'],
    columns: [
      { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterName' },
      ready,
      reason,
      { name: 'Verified', type: 'date', jsonPath: '.status.verified.at', description: 'How long ago it was restored.' },
      { name: 'Size', type: 'string', jsonPath: '.status.size', description: 'Of the object as it is stored.' },
      { name: 'Revision', type: 'integer', jsonPath: '.status.revision' },
      { name: 'Taken', type: 'date', jsonPath: '.status.takenAt' },
      age,
      { name: 'Object', type: 'string', jsonPath: '.status.object', priority: 1 },
      { name: 'Message', type: 'string', jsonPath: condition('message'), priority: 1 },
    ],
  },
  EtcdBackupSchedule: {
    kind: 'EtcdBackupSchedule',
    description:
      'EtcdBackups of one etcd cluster by the clock, and which of them are kept. Deleting this deletes nothing in the store.',
    plural: 'etcdbackupschedules',
    singular: 'etcdbackupschedule',
    categories: ['etcd-ratchet'],
    spec: structural(etcdBackupScheduleSpecSchema),
    status: structural(etcdBackupScheduleStatusSchema),
    rules: etcdBackupScheduleRules,
    columns: [
      { name: 'Cluster', type: 'string', jsonPath: '.spec.template.clusterName' },
      { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' },
      { name: 'Suspend', type: 'boolean', jsonPath: '.spec.suspend' },
      ready,
      { name: 'Last', type: 'date', jsonPath: '.status.lastAt' },
      { name: 'Last Good', type: 'date', jsonPath: '.status.lastGood.takenAt' },
      // As a date, kubectl shows nothing of what is to come.
      { name: 'Next', type: 'string', jsonPath: '.status.nextAt' },
      age,
      { name: 'Time Zone', type: 'string', jsonPath: '.spec.timeZone', priority: 1 },
      { name: 'Kept', type: 'integer', jsonPath: '.status.retention.kept', priority: 1 },
      { name: 'Message', type: 'string', jsonPath: condition('message'), priority: 1 },
    ],
  },
  EtcdRestore: {
    kind: 'EtcdRestore',
    description: 'An EtcdCluster made from a snapshot, once. Deleting this leaves the cluster where it is.',
    plural: 'etcdrestores',
    singular: 'etcdrestore',
    categories: ['etcd-ratchet'],
    spec: structural(etcdRestoreSpecSchema),
    status: structural(etcdRestoreStatusSchema),
    rules: etcdRestoreRules,
    columns: [
      { name: 'Cluster', type: 'string', jsonPath: '.spec.cluster.name' },
      { name: 'Snapshot', type: 'string', jsonPath: '.status.object' },
      ready,
      reason,
      age,
      { name: 'Message', type: 'string', jsonPath: condition('message'), priority: 1 },
    ],
  },
  EtcdNodePolicy: {
    kind: 'EtcdNodePolicy',
    description:
      'Nodes that are rebooted one after the other, without costing an etcd cluster its quorum. Needs the component node-reboots.',
    plural: 'etcdnodepolicies',
    singular: 'etcdnodepolicy',
    categories: ['etcd-ratchet'],
    clusterScoped: true,
    spec: structural(etcdNodePolicySpecSchema),
    status: structural(etcdNodePolicyStatusSchema),
    rules: etcdNodePolicyRules,
    columns: [
      { name: 'Nodes', type: 'integer', jsonPath: '.status.nodes' },
      { name: 'Needed', type: 'integer', jsonPath: '.status.needed' },
      { name: 'In Progress', type: 'integer', jsonPath: '.status.inProgress' },
      { name: 'Done', type: 'integer', jsonPath: '.status.done' },
      {
        name: 'Blocked By',
        type: 'string',
        jsonPath: '.status.blocked[0].reason',
        description: 'Why the first of the nodes that wait does not go on.',
      },
      ready,
      reason,
      { name: 'Last', type: 'date', jsonPath: '.status.lastDone.at' },
      age,
      { name: 'Message', type: 'string', jsonPath: condition('message'), priority: 1 },
    ],
  },
};

function condition(field: 'status' | 'reason' | 'message'): string {
  return `.status.conditions[?(@.type=="Ready")].${field}`;
}
