import { type EtcdMetric, etcdLabels, etcdMetrics } from './etcd-metrics.ts';
import { metrics } from './metrics.ts';
import { type Dashboard, grafana, type Panel, type Query } from './panels.ts';
import { type PushedName, pushed } from './pushed.ts';

const { prefix: cluster } = metrics.EtcdCluster;
const { prefix: fleet } = metrics.EtcdFleet;
const { prefix: schedule } = metrics.EtcdBackupSchedule;

type Look = Pick<Panel, 'title' | 'about' | 'unit'> & Partial<Pick<Panel, 'width' | 'height' | 'red'>>;

function stat({ width = 4, height = 4, ...look }: Look, expr: string): Panel {
  return { ...look, type: 'stat', width, height, queries: [{ expr }] };
}

function lines({ width = 12, height = 8, ...look }: Look, ...queries: readonly Query[]): Panel {
  return { ...look, type: 'timeseries', width, height, queries };
}

function list({ width = 12, height = 8, ...look }: Look, expr: string): Panel {
  return { ...look, type: 'table', width, height, queries: [{ expr, instant: true }] };
}

/** A panel of one metric of a pass says what the table of metrics says. */
function ofPass(name: PushedName, title: string, query: Query): Panel {
  const { help, unit } = pushed[name];
  return lines({ title, about: `${help} Where the installation sends it.`, unit: unit === 's' ? 's' : 'short' }, query);
}

/** No series is none of them, and not no data. */
function count(expr: string): string {
  return `count(${expr}) or vector(0)`;
}

const fleetDashboard: Dashboard = {
  uid: 'etcd-ratchet-fleet',
  title: 'etcd-ratchet / Fleet',
  about: 'All clusters and fleets of one installation: what needs a person, and whether passes are made.',
  variables: [],
  rows: [
    {
      row: 'Now',
      panels: [
        stat(
          { title: 'Clusters', about: 'EtcdClusters that there are.', unit: 'short' },
          count(`${cluster}_replicas_wanted`),
        ),
        stat(
          { title: 'Do not serve', about: 'No quorum answers.', unit: 'short', red: { from: 1 } },
          count(`${cluster}_condition{type="Available"} == 0 and on (namespace, name) ${cluster}_replicas_wanted > 0`),
        ),
        stat(
          { title: 'Need a person', about: 'Stalled or SetAside.', unit: 'short', red: { from: 1 } },
          count(`max by (namespace, name) (${cluster}_condition{type=~"Stalled|SetAside"}) == 1`),
        ),
        stat(
          {
            title: 'Ask for an approval',
            about: 'kubectl ratchet approve shows what is lost with it.',
            unit: 'short',
            red: { from: 1 },
          },
          count(`${cluster}_approval_asked == 1 or ${fleet}_approval_asked == 1`),
        ),
        stat(
          { title: 'Unhealthy members', about: 'Of clusters that do not hibernate.', unit: 'short', red: { from: 1 } },
          count(`${cluster}_member_healthy == 0 and on (namespace, name) ${cluster}_replicas_wanted > 0`),
        ),
        stat(
          {
            title: 'Last look at the fleets',
            about: 'The longest time since a pass looked at a fleet.',
            unit: 's',
            red: { from: 900 },
          },
          `max(time() - ${fleet}_last_run_seconds)`,
        ),
      ],
    },
    {
      row: 'What needs a person',
      panels: [
        list(
          { title: 'Clusters', about: 'kubectl ratchet why says what to do.', unit: 'short' },
          `${cluster}_condition{type=~"Stalled|SetAside"} == 1`,
        ),
        list(
          { title: 'Fleets, schedules and nodes', about: 'The condition Stalled of each.', unit: 'short' },
          `${fleet}_condition{type="Stalled"} == 1 or ${schedule}_condition{type="Stalled"} == 1 or ${metrics.EtcdNodePolicy.prefix}_condition{type="Stalled"} == 1`,
        ),
      ],
    },
    {
      row: 'Over time',
      panels: [
        lines(
          { title: 'Clusters of fleets by state', about: 'As the fleets count them.', unit: 'short' },
          { expr: `sum by (state) (${fleet}_clusters)`, legend: '{{state}}' },
        ),
        lines(
          { title: 'Members', about: 'Those that there are, and those that are healthy.', unit: 'short' },
          { expr: `sum(${cluster}_members)`, legend: 'there are' },
          { expr: `sum(${cluster}_members_healthy)`, legend: 'healthy' },
        ),
        lines(
          { title: 'Age of the last good backup', about: 'Of each schedule.', unit: 's' },
          { expr: `time() - ${schedule}_last_good_seconds`, legend: '{{namespace}}/{{name}}' },
        ),
        lines(
          { title: 'Until the first certificate ends', about: 'Of each cluster.', unit: 's' },
          { expr: `${cluster}_certificate_ends_seconds - time()`, legend: '{{namespace}}/{{name}}' },
        ),
      ],
    },
    {
      row: 'Passes',
      panels: [
        ofPass('etcd_ratchet_pass_duration_seconds', 'How long passes take', {
          expr: 'max by (trigger) (max_over_time(etcd_ratchet_pass_duration_seconds[5m]))',
          legend: '{{trigger}}',
        }),
        ofPass('etcd_ratchet_pass_requests', 'Requests in an hour', {
          expr: 'sum by (to) (sum_over_time(etcd_ratchet_pass_requests[1h]))',
          legend: '{{to}}',
        }),
        ofPass('etcd_ratchet_pass_steps', 'Actions in an hour', {
          expr: 'sum by (action, outcome) (sum_over_time(etcd_ratchet_pass_steps{action!="none"}[1h]))',
          legend: '{{action}} {{outcome}}',
        }),
        ofPass('etcd_ratchet_pass_clusters', 'Clusters by what was decided', {
          expr: 'max by (decision) (max_over_time(etcd_ratchet_pass_clusters[5m]))',
          legend: '{{decision}}',
        }),
      ],
    },
  ],
};

const one = 'namespace="$namespace",name="$cluster"';
const members = `namespace="$namespace",${etcdLabels.cluster}="$cluster"`;
const each = `{{${etcdLabels.member}}}`;

function ofMember(metric: EtcdMetric): string {
  return `${metric}{${members}}`;
}

/** One request in a hundred takes longer. */
function slowest(metric: EtcdMetric): Query {
  const rate = `rate(${ofMember(metric)}[$__rate_interval])`;
  return { expr: `histogram_quantile(0.99, sum by (${etcdLabels.member}, le) (${rate}))`, legend: each };
}

function ofEtcd(metric: EtcdMetric, title: string, unit: string, query: Query, ...more: readonly Query[]): Panel {
  return lines({ title, about: `${etcdMetrics[metric]} From etcd itself.`, unit }, query, ...more);
}

const clusterDashboard: Dashboard = {
  uid: 'etcd-ratchet-cluster',
  title: 'etcd-ratchet / Cluster',
  about: 'One cluster: whether it serves, its members, its space, its disks.',
  variables: [
    { name: 'namespace', label: 'Namespace', query: `label_values(${cluster}_replicas_wanted, namespace)` },
    {
      name: 'cluster',
      label: 'Cluster',
      query: `label_values(${cluster}_replicas_wanted{namespace="$namespace"}, name)`,
    },
  ],
  rows: [
    {
      row: 'Now',
      panels: [
        stat(
          { title: 'Serves', about: '1 where a quorum answers.', unit: 'short', red: { below: 1 } },
          `${cluster}_condition{${one},type="Available"}`,
        ),
        stat({ title: 'Members wanted', about: 'spec.replicas.', unit: 'short' }, `${cluster}_replicas_wanted{${one}}`),
        stat(
          { title: 'Members that are not healthy', about: 'Wanted, and not healthy.', unit: 'short', red: { from: 1 } },
          `${cluster}_replicas_wanted{${one}} - ${cluster}_members_healthy{${one}}`,
        ),
        stat(
          {
            title: 'Quota in use',
            about: 'Of the member that uses most. At 100% etcd takes no writes.',
            unit: 'percentunit',
            red: { from: 0.8 },
          },
          `max(${ofMember('etcd_mvcc_db_total_size_in_use_in_bytes')} / ${ofMember('etcd_server_quota_backend_bytes')})`,
        ),
        stat(
          { title: 'Leader changes in a day', about: etcdMetrics.etcd_server_leader_changes_seen_total, unit: 'short' },
          `max(increase(${ofMember('etcd_server_leader_changes_seen_total')}[1d]))`,
        ),
        stat(
          {
            title: 'Until a certificate ends',
            about: 'Of all certificates of the cluster.',
            unit: 's',
            red: { below: 604_800 },
          },
          `${cluster}_certificate_ends_seconds{${one}} - time()`,
        ),
      ],
    },
    {
      row: 'What it says',
      panels: [
        {
          title: 'Conditions',
          about: 'Green is good. Each has a reason, which the table has.',
          type: 'state-timeline',
          width: 12,
          height: 8,
          unit: 'short',
          red: { below: 1 },
          queries: [
            {
              expr: `max by (type) (${cluster}_condition{${one},type!~"Stalled|SetAside|Reconciling|Drifted"})`,
              legend: '{{type}}',
            },
            {
              expr: `1 - max by (type) (${cluster}_condition{${one},type=~"Stalled|SetAside|Drifted"})`,
              legend: 'not {{type}}',
            },
          ],
        },
        list(
          {
            title: 'Reasons',
            about: 'Of the conditions that are True; docs/reference/reasons.md explains each.',
            unit: 'short',
          },
          `${cluster}_condition{${one}} == 1`,
        ),
        {
          title: 'Healthy members',
          about: 'Green: nothing is wrong with it.',
          type: 'state-timeline',
          width: 12,
          height: 8,
          unit: 'short',
          red: { below: 1 },
          queries: [{ expr: `${cluster}_member_healthy{${one}}`, legend: '{{member}}' }],
        },
        list(
          { title: 'Refused', about: 'What the spec asks for and can not be done.', unit: 'short' },
          `${cluster}_refusal{${one}} == 1`,
        ),
      ],
    },
    {
      row: 'Raft',
      panels: [
        ofEtcd('etcd_server_is_leader', 'Leader', 'short', { expr: ofMember('etcd_server_is_leader'), legend: each }),
        ofEtcd('etcd_server_has_leader', 'Members that know a leader', 'short', {
          expr: `sum(${ofMember('etcd_server_has_leader')})`,
          legend: 'members',
        }),
        ofEtcd('etcd_server_proposals_pending', 'Writes that wait', 'short', {
          expr: ofMember('etcd_server_proposals_pending'),
          legend: each,
        }),
        ofEtcd('etcd_server_proposals_failed_total', 'Writes that failed, per second', 'short', {
          expr: `rate(${ofMember('etcd_server_proposals_failed_total')}[$__rate_interval])`,
          legend: each,
        }),
      ],
    },
    {
      row: 'Space, disks and network',
      panels: [
        ofEtcd(
          'etcd_mvcc_db_total_size_in_bytes',
          'Database',
          'bytes',
          { expr: ofMember('etcd_mvcc_db_total_size_in_bytes'), legend: `${each}, file` },
          { expr: ofMember('etcd_mvcc_db_total_size_in_use_in_bytes'), legend: `${each}, in use` },
          { expr: `min(${ofMember('etcd_server_quota_backend_bytes')})`, legend: 'quota' },
        ),
        ofEtcd(
          'etcd_disk_wal_fsync_duration_seconds_bucket',
          'Log to disk, slowest of a hundred',
          's',
          slowest('etcd_disk_wal_fsync_duration_seconds_bucket'),
        ),
        ofEtcd(
          'etcd_disk_backend_commit_duration_seconds_bucket',
          'Database to disk, slowest of a hundred',
          's',
          slowest('etcd_disk_backend_commit_duration_seconds_bucket'),
        ),
        ofEtcd(
          'etcd_network_peer_round_trip_time_seconds_bucket',
          'To another member and back, slowest of a hundred',
          's',
          slowest('etcd_network_peer_round_trip_time_seconds_bucket'),
        ),
      ],
    },
  ],
};

export const dashboards = { fleet: fleetDashboard, cluster: clusterDashboard } as const;

/** Each as Grafana imports it, by the name of its file. */
export function dashboardFiles(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(dashboards).map(([name, dashboard]) => [
      `${name}.json`,
      `${JSON.stringify(grafana(dashboard), null, 2)}\n`,
    ]),
  );
}

/** For the sidecar of Grafana's chart, which finds them by this label. */
export function dashboardsConfigMap() {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'etcd-ratchet-dashboards',
      namespace: 'etcd-ratchet',
      labels: { 'app.kubernetes.io/name': 'etcd-ratchet', grafana_dashboard: '1' },
    },
    data: Object.fromEntries(Object.entries(dashboardFiles()).map(([name, text]) => [`etcd-ratchet-${name}`, text])),
  };
}
