/** Pages of the documentation, as a browser finds them. */
const pages = 'https://github.com/etcd-ratchet/etcd-ratchet/blob/main/docs';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  /** Under `docs/`. */
  readonly runbook: string;
}

const where = '{{ $labels.namespace }}/{{ $labels.name }}';
const readOn = 'kubectl ratchet -n {{ $labels.namespace }} why {{ $labels.name }}';

const alerts: readonly Alert[] = [
  {
    alert: 'EtcdClusterDoesNotServe',
    // Asleep, none is wanted to serve.
    expr: 'etcd_ratchet_cluster_condition{type="Available"} == 0 and on (namespace, name) etcd_ratchet_cluster_replicas_wanted > 0',
    for: '2m',
    severity: 'critical',
    summary: `no quorum of ${where} answers: ${readOn}`,
    runbook: 'runbooks/lost-quorum.md',
  },
  {
    alert: 'EtcdClusterNeedsPerson',
    expr: 'etcd_ratchet_cluster_condition{type=~"Stalled|SetAside"} == 1',
    for: '5m',
    severity: 'warning',
    summary: `${where} needs a person ({{ $labels.reason }}): ${readOn}`,
    runbook: 'runbooks/README.md',
  },
  {
    alert: 'EtcdApprovalAsked',
    expr: 'etcd_ratchet_cluster_approval_asked == 1 or etcd_ratchet_fleet_approval_asked == 1',
    for: '1m',
    severity: 'warning',
    summary: `${where} asks for an approval ({{ $labels.reason }}); what is lost with it: kubectl ratchet -n {{ $labels.namespace }} approve {{ $labels.name }} (of a fleet: --fleet)`,
    runbook: 'reference/annotations.md',
  },
  {
    alert: 'EtcdMemberUnhealthy',
    expr: 'etcd_ratchet_cluster_member_healthy == 0 and on (namespace, name) etcd_ratchet_cluster_replicas_wanted > 0',
    for: '15m',
    severity: 'warning',
    summary: `member {{ $labels.member }} of ${where} is unhealthy: ${readOn}`,
    runbook: 'runbooks/member-does-not-run.md',
  },
  {
    alert: 'EtcdCertificateEndsSoon',
    expr: 'etcd_ratchet_cluster_certificate_ends_seconds - time() < 7 * 86400',
    for: '1h',
    severity: 'warning',
    summary: `a certificate of ${where} ends in {{ $value | humanizeDuration }}: ${readOn}`,
    runbook: 'runbooks/certificates.md',
  },
  {
    alert: 'EtcdFleetNeedsPerson',
    expr: 'etcd_ratchet_fleet_condition{type="Stalled"} == 1',
    for: '5m',
    severity: 'warning',
    summary: `fleet ${where} needs a person ({{ $labels.reason }})`,
    runbook: 'how-to/fleets.md',
  },
  {
    alert: 'EtcdRatchetDoesNotRun',
    expr: 'time() - etcd_ratchet_fleet_last_run_seconds > 900',
    for: '5m',
    severity: 'critical',
    summary: `no pass has looked at fleet ${where} for {{ $value | humanizeDuration }}: is the CronJob suspended, or has its trigger stopped?`,
    runbook: 'how-to/monitoring.md',
  },
  {
    alert: 'EtcdBackupsFail',
    expr: 'etcd_ratchet_backup_schedule_condition{type="Stalled"} == 1',
    for: '15m',
    severity: 'warning',
    summary: `backups of schedule ${where} fail ({{ $labels.reason }})`,
    runbook: 'runbooks/backup-fails.md#a-schedule',
  },
  {
    alert: 'EtcdBackupTooOld',
    expr: 'time() - etcd_ratchet_backup_schedule_last_good_seconds > 2 * 86400 unless on (namespace, name) etcd_ratchet_backup_schedule_suspended == 1',
    for: '1h',
    severity: 'warning',
    summary: `the last good backup of schedule ${where} is {{ $value | humanizeDuration }} old`,
    runbook: 'runbooks/backup-fails.md#a-schedule',
  },
  {
    alert: 'EtcdNodeRebootStuck',
    expr: 'etcd_ratchet_node_policy_condition{type="Stalled"} == 1',
    for: '15m',
    severity: 'warning',
    summary: 'a node of policy {{ $labels.name }} is stuck in its reboot, and no other begins ({{ $labels.reason }})',
    runbook: 'how-to/node-reboots.md',
  },
];

/** For the Prometheus operator. */
export function prometheusRule() {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'etcd-ratchet', labels: { 'app.kubernetes.io/name': 'etcd-ratchet' } },
    spec: {
      groups: [
        {
          name: 'etcd-ratchet',
          rules: alerts.map(({ alert, expr, severity, summary, runbook, ...one }) => ({
            alert,
            expr,
            for: one.for,
            labels: { severity },
            annotations: { summary, runbook_url: `${pages}/${runbook}` },
          })),
        },
      ],
    },
  };
}
