/** Samples in promtool's notation, one a minute: `1x20` is a 1 and 20 more. */
export type Series = Readonly<Record<string, string>>;

export interface Firing {
  readonly series: Series;
  readonly at: string;
  readonly labels: Series;
  readonly summary: RegExp;
}

export interface AlertCase {
  /** What must be so for it to fire, and when it has fired. */
  readonly fires: Firing;
  /** Other ways to the same. */
  readonly alsoFires?: Readonly<Record<string, Firing>>;
  /** What looks much like it, and must not make it fire. */
  readonly silent: Readonly<Record<string, { readonly series: Series; readonly at: string }>>;
}

const orders = { namespace: 'payments', name: 'orders' };
const member = { namespace: 'payments', etcd_cluster: 'orders', member: 'orders-0' };

function series(metric: string, labels: Series): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return `${metric}{${pairs.join(',')}}`;
}

const available = (reason = 'NoQuorum') =>
  series('etcd_ratchet_cluster_condition', { ...orders, type: 'Available', reason });
const born = series('etcd_ratchet_cluster_info', { ...orders, cluster_id: '8c9d', version: '3.6.16' });
const wanted = series('etcd_ratchet_cluster_replicas_wanted', orders);
const condition = (kind: string, labels: Series, type: string, reason: string) =>
  series(`etcd_ratchet_${kind}_condition`, { ...labels, type, reason });
const etcd = (metric: string, more: Series = {}) => series(metric, { ...member, ...more });
const ticks = { namespace: 'etcd-ratchet', cronjob: 'etcd-ratchet' };
const passed = series('kube_cronjob_status_last_successful_time', ticks);
const created = series('kube_cronjob_created', ticks);
const suspended = series('kube_cronjob_spec_suspend', ticks);
const day = 24 * 60;

export const alertCases: Readonly<Record<string, AlertCase>> = {
  EtcdClusterDoesNotServe: {
    fires: {
      series: { [available()]: '0x20', [wanted]: '3x20', [born]: '1x20' },
      at: '3m',
      labels: { ...orders, type: 'Available', reason: 'NoQuorum' },
      summary: /^Clients of payments\/orders can not write \(NoQuorum\)\. Run: kubectl ratchet -n payments why orders$/,
    },
    silent: {
      'it serves': { series: { [available('QuorumServes')]: '1x20', [wanted]: '3x20', [born]: '1x20' }, at: '15m' },
      'it hibernates': { series: { [available()]: '0x20', [wanted]: '0x20', [born]: '1x20' }, at: '15m' },
      'it is being born': {
        series: {
          [available()]: '0x20',
          [wanted]: '3x20',
          [series('etcd_ratchet_cluster_info', orders)]: '1x20',
        },
        at: '15m',
      },
      'it serves again within two minutes': {
        series: { [available()]: '0 1x20', [wanted]: '3x20', [born]: '1x20' },
        at: '3m',
      },
    },
  },
  EtcdClusterNeedsPerson: {
    fires: {
      series: { [condition('cluster', orders, 'Stalled', 'DataLost')]: '1x20' },
      at: '6m',
      labels: { ...orders, type: 'Stalled', reason: 'DataLost' },
      summary: /^payments\/orders needs a person \(DataLost\)/,
    },
    silent: {
      'it goes on by itself': {
        series: { [condition('cluster', orders, 'Reconciling', 'Joining')]: '1x20' },
        at: '15m',
      },
      'it was so for three minutes': {
        series: { [condition('cluster', orders, 'Stalled', 'DataLost')]: '1x3 0x20' },
        at: '15m',
      },
    },
  },
  EtcdApprovalAsked: {
    fires: {
      series: {
        [series('etcd_ratchet_cluster_approval_asked', {
          ...orders,
          annotation: 'recover-quorum',
          reason: 'QuorumLost',
        })]: '1x20',
      },
      at: '2m',
      labels: { ...orders, annotation: 'recover-quorum', reason: 'QuorumLost' },
      summary: /kubectl ratchet -n payments approve orders/,
    },
    silent: {
      'it is no longer asked': {
        series: {
          [series('etcd_ratchet_fleet_approval_asked', {
            ...orders,
            annotation: 'confirm-prune',
            reason: 'PruneAsked',
          })]: '1 stale',
        },
        at: '7m',
      },
    },
  },
  EtcdMemberUnhealthy: {
    fires: {
      series: {
        [series('etcd_ratchet_cluster_member_healthy', { ...orders, member: 'orders-2' })]: '0x30',
        [wanted]: '3x30',
      },
      at: '16m',
      labels: { ...orders, member: 'orders-2' },
      summary: /^Member orders-2 of payments\/orders is unhealthy/,
    },
    silent: {
      'it is healed within a quarter of an hour': {
        series: {
          [series('etcd_ratchet_cluster_member_healthy', { ...orders, member: 'orders-2' })]: '0x13 1x20',
          [wanted]: '3x40',
        },
        at: '20m',
      },
      'its cluster hibernates': {
        series: {
          [series('etcd_ratchet_cluster_member_healthy', { ...orders, member: 'orders-2' })]: '0x30',
          [wanted]: '0x30',
        },
        at: '25m',
      },
    },
  },
  EtcdCertificateEndsSoon: {
    fires: {
      series: { [series('etcd_ratchet_cluster_certificate_ends_seconds', orders)]: `${6 * 86_400}x100` },
      at: '61m',
      labels: orders,
      summary: /^A certificate of payments\/orders ends in 5d 22h 59m 0s/,
    },
    silent: {
      'it ends in eight days': {
        series: { [series('etcd_ratchet_cluster_certificate_ends_seconds', orders)]: `${8 * 86_400}x100` },
        at: '90m',
      },
    },
  },
  EtcdFleetNeedsPerson: {
    fires: {
      series: { [condition('fleet', orders, 'Stalled', 'InvalidSpec')]: '1x20' },
      at: '6m',
      labels: { ...orders, type: 'Stalled', reason: 'InvalidSpec' },
      summary: /^Fleet payments\/orders needs a person \(InvalidSpec\)/,
    },
    silent: {
      'a cluster of it does': { series: { [condition('cluster', orders, 'Stalled', 'DataLost')]: '1x20' }, at: '15m' },
    },
  },
  EtcdFleetFallsBehind: {
    fires: {
      series: {
        [condition('fleet', orders, 'SourceReady', 'Timeout')]: '0x20 _x20',
        [condition('fleet', orders, 'SourceReady', 'RateLimited')]: '_x20 0x20',
      },
      at: '35m',
      labels: { ...orders, type: 'SourceReady' },
      summary: /^Fleet payments\/orders falls behind: SourceReady is False/,
    },
    silent: {
      'it was read meanwhile': {
        series: {
          [condition('fleet', orders, 'SourceReady', 'Timeout')]: '0x20 _x1 0x20',
          [condition('fleet', orders, 'SourceReady', 'Read')]: '_x20 1x1 _x20',
        },
        at: '40m',
      },
      'it needs a person': {
        series: {
          [condition('fleet', orders, 'SourceReady', 'InvalidSource')]: '0x60',
          [condition('fleet', orders, 'Stalled', 'InvalidSource')]: '1x60',
        },
        at: '50m',
      },
    },
  },
  EtcdRatchetDoesNotRun: {
    fires: {
      series: { [series('etcd_ratchet_fleet_last_run_seconds', orders)]: '0x60' },
      at: '7m',
      labels: orders,
      summary: /^No pass has looked at fleet payments\/orders for 7m 0s/,
    },
    silent: {
      'passes are made': { series: { [series('etcd_ratchet_fleet_last_run_seconds', orders)]: '0+60x60' }, at: '50m' },
      'none was made for four minutes': {
        series: { [series('etcd_ratchet_fleet_last_run_seconds', orders)]: '0x4 300+60x40' },
        at: '5m',
      },
    },
  },
  EtcdRatchetNoPass: {
    fires: {
      series: { [passed]: '0x60', [created]: '0x60', [suspended]: '0x60' },
      at: '7m',
      labels: ticks,
      summary: /^CronJob etcd-ratchet\/etcd-ratchet has made no whole pass for 7m 0s/,
    },
    alsoFires: {
      'none ever ended well': {
        series: { [created]: '0x60', [suspended]: '0x60' },
        at: '8m',
        labels: ticks,
        summary: /^CronJob etcd-ratchet\/etcd-ratchet has made no whole pass for 8m 0s/,
      },
    },
    silent: {
      'passes are made': { series: { [passed]: '0+60x60', [created]: '0x60', [suspended]: '0x60' }, at: '50m' },
      'it is suspended': { series: { [passed]: '0x60', [created]: '0x60', [suspended]: '1x60' }, at: '50m' },
      'it was made a moment ago': { series: { [created]: '0x60', [suspended]: '0x60' }, at: '5m' },
      'another CronJob fails': {
        series: { [series('kube_cronjob_status_last_successful_time', { ...ticks, cronjob: 'reports' })]: '0x60' },
        at: '50m',
      },
    },
  },
  EtcdClustersWithoutStep: {
    fires: {
      series: { etcd_ratchet_pass_clusters_without_step: '3x30' },
      at: '20m',
      labels: {},
      summary: /^Each pass of the last ten minutes left at least 3 clusters without a step/,
    },
    silent: {
      'all get one now and then': {
        series: { etcd_ratchet_pass_clusters_without_step: '3x4 0 3x4 0 3x4 0 3x4 0' },
        at: '19m',
      },
    },
  },
  EtcdBackupsFail: {
    fires: {
      series: { [condition('backup_schedule', orders, 'Stalled', 'LastBackupFailed')]: '1x30' },
      at: '16m',
      labels: { ...orders, type: 'Stalled', reason: 'LastBackupFailed' },
      summary: /^Backups of schedule payments\/orders fail \(LastBackupFailed\)/,
    },
    silent: {
      'the next one succeeds': {
        series: { [condition('backup_schedule', orders, 'Stalled', 'LastBackupFailed')]: '1x10 0x30' },
        at: '30m',
      },
    },
  },
  EtcdBackupTooOld: {
    fires: {
      series: {
        [series('etcd_ratchet_backup_schedule_last_good_seconds', orders)]: `0x${3 * day}`,
        [series('etcd_ratchet_backup_schedule_suspended', orders)]: `0x${3 * day}`,
      },
      at: '50h',
      labels: orders,
      summary: /^The last good backup of schedule payments\/orders is 2d 2h 0m 0s old/,
    },
    silent: {
      'it is a day old': {
        series: { [series('etcd_ratchet_backup_schedule_last_good_seconds', orders)]: `0x${2 * day}` },
        at: '30h',
      },
      'the schedule is suspended': {
        series: {
          [series('etcd_ratchet_backup_schedule_last_good_seconds', orders)]: `0x${3 * day}`,
          [series('etcd_ratchet_backup_schedule_suspended', orders)]: `1x${3 * day}`,
        },
        at: '60h',
      },
    },
  },
  EtcdNodeRebootStuck: {
    fires: {
      series: { [condition('node_policy', { name: 'kernel' }, 'Stalled', 'NodeStuck')]: '1x30' },
      at: '16m',
      labels: { name: 'kernel', type: 'Stalled', reason: 'NodeStuck' },
      summary: /^A node of policy kernel is stuck in its reboot/,
    },
    silent: {
      'a node reboots': {
        series: { [condition('node_policy', { name: 'kernel' }, 'Reconciling', 'Draining')]: '1x30' },
        at: '25m',
      },
    },
  },
  EtcdMemberHasNoLeader: {
    fires: {
      series: { [etcd('etcd_server_has_leader')]: '0x20' },
      at: '2m',
      labels: member,
      summary: /^Member orders-0 of payments\/orders knows no leader/,
    },
    silent: {
      'it knows one': { series: { [etcd('etcd_server_has_leader')]: '1x20' }, at: '10m' },
      'the etcd is none of ours': { series: { 'etcd_server_has_leader{job="other"}': '0x20' }, at: '10m' },
    },
  },
  EtcdDatabaseNearQuota: {
    fires: {
      series: {
        [etcd('etcd_mvcc_db_total_size_in_use_in_bytes')]: '900x30',
        [etcd('etcd_server_quota_backend_bytes')]: '1000x30',
      },
      at: '11m',
      labels: member,
      summary: /^90% of the quota of member orders-0 of payments\/orders is in use/,
    },
    silent: {
      'the file is full, and what is in it is not': {
        series: {
          [etcd('etcd_mvcc_db_total_size_in_bytes')]: '990x30',
          [etcd('etcd_mvcc_db_total_size_in_use_in_bytes')]: '400x30',
          [etcd('etcd_server_quota_backend_bytes')]: '1000x30',
        },
        at: '20m',
      },
    },
  },
  EtcdDiskIsSlow: {
    fires: {
      series: {
        [etcd('etcd_disk_wal_fsync_duration_seconds_bucket', { le: '0.512' })]: '0+50x40',
        [etcd('etcd_disk_wal_fsync_duration_seconds_bucket', { le: '1.024' })]: '0+100x40',
        [etcd('etcd_disk_wal_fsync_duration_seconds_bucket', { le: '+Inf' })]: '0+100x40',
      },
      at: '20m',
      labels: member,
      summary: /^One write in a hundred of member orders-0 of payments\/orders takes 1\.0\d+s/,
    },
    silent: {
      'one write in ten thousand is slow': {
        series: {
          [etcd('etcd_disk_wal_fsync_duration_seconds_bucket', { le: '0.008' })]: '0+9999x40',
          [etcd('etcd_disk_wal_fsync_duration_seconds_bucket', { le: '+Inf' })]: '0+10000x40',
        },
        at: '20m',
      },
    },
  },
  EtcdLeaderChangesOften: {
    fires: {
      series: { [etcd('etcd_server_leader_changes_seen_total')]: '0+1x60' },
      at: '30m',
      labels: { namespace: 'payments', etcd_cluster: 'orders' },
      summary: /^The leader of payments\/orders has changed 15 times within 15 minutes/,
    },
    silent: {
      'a roll of three members moves it three times': {
        series: { [etcd('etcd_server_leader_changes_seen_total')]: '1x10 2x2 3x2 4x40' },
        at: '25m',
      },
    },
  },
};
