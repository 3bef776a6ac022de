import { repositoryFiles } from '../documentation.ts';

const pages = `${repositoryFiles}/docs`;

/** One section for each alert, under its name. */
export const runbook = 'runbooks/alerts.md';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
}

const where = '{{ $labels.namespace }}/{{ $labels.name }}';
const member = '{{ $labels.member }} of {{ $labels.namespace }}/{{ $labels.etcd_cluster }}';
const readOn = 'kubectl ratchet -n {{ $labels.namespace }} why {{ $labels.name }}';

/** Of the status of our objects: kube-state-metrics makes the series. */
const ofObjects: readonly Alert[] = [
  {
    alert: 'EtcdClusterDoesNotServe',
    // A cluster that hibernates is not meant to serve, and one that is being born does not serve yet.
    expr: 'etcd_ratchet_cluster_condition{type="Available"} == 0 and on (namespace, name) etcd_ratchet_cluster_replicas_wanted > 0 and on (namespace, name) etcd_ratchet_cluster_info{cluster_id!=""}',
    for: '2m',
    severity: 'critical',
    summary: `Clients of ${where} can not write ({{ $labels.reason }}). Run: ${readOn}`,
  },
  {
    alert: 'EtcdClusterNeedsPerson',
    expr: 'etcd_ratchet_cluster_condition{type=~"Stalled|SetAside"} == 1',
    for: '5m',
    severity: 'warning',
    summary: `${where} needs a person ({{ $labels.reason }}). Run: ${readOn}`,
  },
  {
    alert: 'EtcdApprovalAsked',
    expr: 'etcd_ratchet_cluster_approval_asked == 1 or etcd_ratchet_fleet_approval_asked == 1',
    for: '1m',
    severity: 'warning',
    summary: `${where} asks for an approval ({{ $labels.reason }}). To see what is lost with it, run: kubectl ratchet -n {{ $labels.namespace }} approve {{ $labels.name }} (of a fleet: --fleet)`,
  },
  {
    alert: 'EtcdMemberUnhealthy',
    expr: 'etcd_ratchet_cluster_member_healthy == 0 and on (namespace, name) etcd_ratchet_cluster_replicas_wanted > 0',
    for: '15m',
    severity: 'warning',
    summary: `Member {{ $labels.member }} of ${where} is unhealthy. Run: ${readOn}`,
  },
  {
    alert: 'EtcdCertificateEndsSoon',
    expr: 'etcd_ratchet_cluster_certificate_ends_seconds - time() < 7 * 86400',
    for: '1h',
    severity: 'warning',
    summary: `A certificate of ${where} ends in {{ $value | humanizeDuration }}. Run: ${readOn}`,
  },
  {
    alert: 'EtcdFleetNeedsPerson',
    expr: 'etcd_ratchet_fleet_condition{type="Stalled"} == 1',
    for: '5m',
    severity: 'warning',
    summary: `Fleet ${where} needs a person ({{ $labels.reason }}). Run: kubectl -n {{ $labels.namespace }} describe etcdfleets.etcd.ratchet.dev {{ $labels.name }}`,
  },
  {
    alert: 'EtcdFleetFallsBehind',
    // By the condition, as its reason changes. What needs a person has an alert of its own.
    expr: 'max by (namespace, name, type) (etcd_ratchet_fleet_condition{type=~"SourceReady|StatusesReported"}) == 0 unless on (namespace, name) etcd_ratchet_fleet_condition{type="Stalled"} == 1',
    for: '30m',
    severity: 'warning',
    summary: `Fleet ${where} falls behind: {{ $labels.type }} is False. Its Git server or its forge does not answer, or limits it. Run: kubectl -n {{ $labels.namespace }} describe etcdfleets.etcd.ratchet.dev {{ $labels.name }}`,
  },
  {
    alert: 'EtcdRatchetDoesNotRun',
    expr: 'time() - etcd_ratchet_fleet_last_run_seconds > 300',
    for: '1m',
    severity: 'critical',
    summary: `No pass has looked at fleet ${where} for {{ $value | humanizeDuration }}. Is the CronJob suspended, or has its trigger stopped?`,
  },
  {
    alert: 'EtcdRatchetNoPass',
    // Of kube-state-metrics itself, which most installations have. A pass takes two minutes at most. Before the first
    // success there is no time of it.
    expr: 'time() - (kube_cronjob_status_last_successful_time{cronjob="etcd-ratchet"} or on (namespace, cronjob) kube_cronjob_created{cronjob="etcd-ratchet"}) > 300 unless on (namespace, cronjob) kube_cronjob_spec_suspend == 1',
    for: '1m',
    severity: 'critical',
    summary:
      'CronJob {{ $labels.namespace }}/{{ $labels.cronjob }} has made no whole pass for {{ $value | humanizeDuration }}: nothing is healed, or, of a pass that is shared out, not all. See its Jobs and the log of their pods.',
  },
  {
    alert: 'EtcdClustersWithoutStep',
    expr: 'min_over_time(etcd_ratchet_pass_clusters_without_step[10m]) > 0',
    for: '5m',
    severity: 'warning',
    summary:
      'Each pass of the last ten minutes left at least {{ $value }} clusters without a step: they are not healed. The log of a pass names them.',
  },
  {
    alert: 'EtcdBackupsFail',
    expr: 'etcd_ratchet_backup_schedule_condition{type="Stalled"} == 1',
    for: '15m',
    severity: 'warning',
    summary: `Backups of schedule ${where} fail ({{ $labels.reason }}).`,
  },
  {
    alert: 'EtcdBackupTooOld',
    expr: 'time() - etcd_ratchet_backup_schedule_last_good_seconds > 2 * 86400 unless on (namespace, name) etcd_ratchet_backup_schedule_suspended == 1',
    for: '1h',
    severity: 'warning',
    summary: `The last good backup of schedule ${where} is {{ $value | humanizeDuration }} old.`,
  },
  {
    alert: 'EtcdNodeRebootStuck',
    expr: 'etcd_ratchet_node_policy_condition{type="Stalled"} == 1',
    for: '15m',
    severity: 'warning',
    summary:
      'A node of policy {{ $labels.name }} is stuck in its reboot, and no other node begins ({{ $labels.reason }}).',
  },
];

/** Of etcd itself, scraped as the PodMonitor says. They see in seconds what a status says with the next pass. */
const ofEtcd: readonly Alert[] = [
  {
    alert: 'EtcdMemberHasNoLeader',
    expr: 'etcd_server_has_leader{etcd_cluster!=""} == 0',
    for: '1m',
    severity: 'critical',
    summary: `Member ${member} knows no leader: it takes no writes.`,
  },
  {
    alert: 'EtcdDatabaseNearQuota',
    // In use: what compaction has freed within the file is written to again, and does not count.
    expr: 'etcd_mvcc_db_total_size_in_use_in_bytes{etcd_cluster!=""} / etcd_server_quota_backend_bytes{etcd_cluster!=""} > 0.8',
    for: '10m',
    severity: 'warning',
    summary: `{{ $value | humanizePercentage }} of the quota of member ${member} is in use. At 100% etcd takes no writes.`,
  },
  {
    alert: 'EtcdDiskIsSlow',
    expr: 'histogram_quantile(0.99, sum by (namespace, etcd_cluster, member, le) (rate(etcd_disk_wal_fsync_duration_seconds_bucket{etcd_cluster!=""}[5m]))) > 0.5',
    for: '10m',
    severity: 'warning',
    summary: `One write in a hundred of member ${member} takes {{ $value | humanizeDuration }} to get to the disk.`,
  },
  {
    alert: 'EtcdLeaderChangesOften',
    expr: 'max by (namespace, etcd_cluster) (increase(etcd_server_leader_changes_seen_total{etcd_cluster!=""}[15m])) > 3',
    for: '5m',
    severity: 'warning',
    summary:
      'The leader of {{ $labels.namespace }}/{{ $labels.etcd_cluster }} has changed {{ $value | humanize }} times within 15 minutes: disks or the network are slow.',
  },
];

export const alerts: readonly Alert[] = [...ofObjects, ...ofEtcd];

/** The place in the runbook of an alert, as a page of the documentation. */
export function anchorOf({ alert }: Pick<Alert, 'alert'>): string {
  return alert.toLowerCase();
}

/** For the Prometheus operator. */
export function prometheusRule() {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'etcd-ratchet', labels: { 'app.kubernetes.io/name': 'etcd-ratchet' } },
    spec: { groups: [ruleGroup('etcd-ratchet', ofObjects), ruleGroup('etcd-ratchet-members', ofEtcd)] },
  };
}

function ruleGroup(name: string, some: readonly Alert[]) {
  return {
    name,
    rules: some.map(({ alert, expr, severity, summary, for: duration }) => ({
      alert,
      expr,
      for: duration,
      labels: { severity },
      annotations: { summary, runbook_url: `${pages}/${runbook}#${anchorOf({ alert })}` },
    })),
  };
}
