import { type Kind, kinds } from '../api/group.ts';

/** Where a value is in an object; the syntax of kube-state-metrics. */
type Path = readonly string[];
type Labels = Readonly<Record<string, Path>>;

/** What kube-state-metrics makes of objects of a kind. Of a list in `path`, one series for each entry. */
export interface Metric {
  /** After the prefix of its kind. */
  readonly name: string;
  readonly help: string;
  /** `Info`: always 1, while the entry is there. */
  readonly type: 'Gauge' | 'Info';
  readonly path: Path;
  /** Below `path`. */
  readonly labels?: Labels;
  readonly value?: Path;
  /** For an object of numbers: its keys as this label. */
  readonly labelFromKey?: string;
  readonly nilIsZero?: true;
}

const condition: Metric = {
  name: 'condition',
  help: 'A condition: 1 where it is True. Its reason is a word of docs/reference/reasons.md.',
  type: 'Gauge',
  path: ['status', 'conditions'],
  labels: { type: ['type'], reason: ['reason'] },
  value: ['status'],
};

const approval: Metric = {
  name: 'approval_asked',
  help: 'A person is asked for an approval; kubectl ratchet approve shows what is lost with it.',
  type: 'Info',
  path: ['status', 'approvals'],
  labels: { annotation: ['annotation'], reason: ['reason'] },
};

function gauge(name: string, path: Path, help: string): Metric {
  return { name, help, type: 'Gauge', path };
}

function ofMember(name: string, field: string, help: string): Metric {
  return { name, help, type: 'Gauge', path: ['status', 'members'], labels: { member: ['name'] }, value: [field] };
}

interface OfKind {
  /** Before each name. */
  readonly prefix: string;
  readonly metrics: readonly Metric[];
}

/** All metrics. Times are in seconds since the epoch, sizes in bytes. */
export const metrics: Readonly<Record<Kind, OfKind>> = {
  EtcdFleet: {
    prefix: 'etcd_ratchet_fleet',
    metrics: [
      condition,
      approval,
      gauge('last_run_seconds', ['status', 'lastRun'], 'When a tick last looked at it.'),
      {
        ...gauge('clusters', ['status', 'clusters'], 'Its clusters: total, and how many of them are how.'),
        labelFromKey: 'state',
      },
      { ...gauge('problems', ['status', 'problemCount'], 'Problems of its repository.'), nilIsZero: true },
    ],
  },
  EtcdCluster: {
    prefix: 'etcd_ratchet_cluster',
    metrics: [
      condition,
      approval,
      {
        name: 'info',
        help: 'Always 1. Before its birth there is none with a cluster_id.',
        type: 'Info',
        path: ['status'],
        labels: { cluster_id: ['clusterID'], version: ['version'], leader: ['leader'] },
      },
      gauge('replicas_wanted', ['spec', 'replicas'], 'Members that the spec asks for; 0: it hibernates.'),
      gauge('members', ['status', 'replicas'], 'Members that there are.'),
      gauge('members_healthy', ['status', 'readyReplicas'], 'Members that are healthy.'),
      ofMember('member_healthy', 'healthy', '1 where nothing is wrong with this member.'),
      ofMember('member_db_bytes', 'dbBytes', 'Its database file. It is told when it changes by a tenth.'),
      ofMember('member_db_in_use_bytes', 'dbInUseBytes', 'Of that: what is in use.'),
      gauge('certificate_ends_seconds', ['status', 'certificates', 'notAfter'], 'When its first certificate ends.'),
      {
        name: 'refusal',
        help: 'What the spec asks for and can not be done.',
        type: 'Info',
        path: ['status', 'refusals'],
        labels: { reason: ['reason'], field: ['field'] },
      },
    ],
  },
  EtcdPeer: {
    prefix: 'etcd_ratchet_peer',
    metrics: [condition, gauge('ready', ['status', 'ready'], '1 where its pod is Ready.')],
  },
  EtcdBackup: {
    prefix: 'etcd_ratchet_backup',
    metrics: [
      condition,
      gauge('taken_seconds', ['status', 'takenAt'], 'When the member began to send it.'),
      gauge('verified_seconds', ['status', 'verified', 'at'], 'When it was restored, to prove it.'),
      gauge('bytes', ['status', 'bytes'], 'Of the object as it is stored.'),
    ],
  },
  EtcdBackupSchedule: {
    prefix: 'etcd_ratchet_backup_schedule',
    metrics: [
      condition,
      gauge('next_seconds', ['status', 'nextAt'], 'When the next backup is due.'),
      gauge('last_good_seconds', ['status', 'lastGood', 'takenAt'], 'When the last good backup was taken.'),
      { ...gauge('suspended', ['spec', 'suspend'], '1 where it is suspended.'), nilIsZero: true },
    ],
  },
  EtcdRestore: { prefix: 'etcd_ratchet_restore', metrics: [condition] },
  EtcdNodePolicy: {
    prefix: 'etcd_ratchet_node_policy',
    metrics: [
      condition,
      gauge('nodes', ['status', 'nodes'], 'Nodes that it is about.'),
      gauge('nodes_needed', ['status', 'needed'], 'Nodes that need a reboot and have not begun.'),
      gauge('nodes_in_progress', ['status', 'inProgress'], 'Nodes under way.'),
      {
        name: 'node_waits',
        help: 'A node that needs a reboot or is under way, and what it waits for: a word of docs/reference/reasons.md.',
        type: 'Info',
        path: ['status', 'blocked'],
        labels: { node: ['node'], reason: ['reason'] },
      },
      gauge('reboots_done', ['status', 'done'], 'Reboots that have been completed.'),
    ],
  },
};

export const metricNames: readonly string[] = kinds.flatMap((kind) =>
  metrics[kind].metrics.map(({ name }) => `${metrics[kind].prefix}_${name}`),
);
