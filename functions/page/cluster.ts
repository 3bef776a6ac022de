import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { ClusterHistoryEntry } from '../../manifests/api/etcd-cluster-status.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { annotations } from '../../manifests/render/names.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { clusterConcerns } from './attention.ts';
import { backupsCard, schedulesCard } from './backups.ts';
import { versions } from './cluster-table.ts';
import { layout } from './layout.ts';
import { fleetHref } from './links.ts';
import { type Html, markup } from './markup.ts';
import { membersCard } from './members.ts';
import {
  approvalsCard,
  badge,
  card,
  concern,
  concerns,
  conditionsCard,
  empty,
  facts,
  revision,
  stateBadge,
} from './parts.ts';
import { type PlanView, planSteps } from './plan.ts';
import { plainQuery, type Query } from './query.ts';
import { type Said, saying } from './said.ts';
import { clusterState } from './state.ts';
import { age, ago, until } from './time.ts';
import { commandBlock } from './told.ts';

export interface ClusterData {
  readonly cluster: EtcdCluster;
  /** The fleet that owns it, if the user may see that. */
  readonly fleet?: EtcdFleet | undefined;
  readonly plan: PlanView;
  /** Its backups, if the user may see them. */
  readonly backups?: readonly EtcdBackup[];
  /** What asks for more of them, if the user may see that. */
  readonly schedules?: readonly EtcdBackupSchedule[];
  readonly query?: Query;
  readonly now: Date;
}

const root = '../../';

export function clusterPage({
  cluster,
  fleet,
  plan,
  backups = [],
  schedules = [],
  query = plainQuery,
  now,
}: ClusterData): Html {
  const state = clusterState(cluster);
  const urgent = clusterConcerns(cluster);
  const said = saying([state.message, ...urgent.map(({ message }) => message)]);
  const body = markup`<div class="title"><h1><bdi>${keyOf(cluster)}</bdi></h1>${stateBadge(state)}</div>
${state.tone === 'bad' ? '' : markup`<p class="lead quiet"><bdi>${state.message}</bdi></p>`}
${concerns(urgent.map((one) => concern(one)))}
${approvalsCard(cluster, 'cluster')}
${summary(cluster, fleet, now)}
${stepCard(cluster, now)}
${membersCard(cluster, now)}
${planCard(plan, said)}
${schedulesCard(schedules, now)}
${backupsCard(backups, now)}
${historyCard(cluster, fleet, now)}
${conditionsCard(cluster.status?.conditions, now, said)}`;
  const fleetCrumb = fleet && {
    text: fleet.metadata.name,
    href: fleetHref(root, fleet.metadata.namespace ?? '', fleet.metadata.name),
  };
  return layout({
    title: `${keyOf(cluster)} · etcd-ratchet`,
    root,
    tone: state.tone,
    path: [...(fleetCrumb ? [fleetCrumb] : []), { text: keyOf(cluster) }],
    query,
    now,
    body,
  });
}

function summary(cluster: EtcdCluster, fleet: EtcdFleet | undefined, now: Date): Html {
  const { metadata, spec, status } = cluster;
  const { creationTimestamp } = metadata;
  const source = metadata.annotations?.[annotations.source];
  const certificates = status?.certificates;
  return markup`<section class="card" aria-label="Summary">${facts([
    { name: 'Members ready', value: `${status?.readyReplicas ?? 0} of ${spec.replicas}` },
    { name: 'Version', value: versions(cluster) },
    { name: 'Leader', value: markup`<bdi>${status?.leader ?? '–'}</bdi>` },
    { name: 'Volume', value: String(spec.storage.size) },
    { name: 'TLS', value: spec.tls?.mode ?? 'Managed' },
    certificates && { name: 'First certificate ends', value: until(certificates.notAfter, now) },
    status?.clusterID !== undefined && { name: 'Cluster ID', value: markup`<code>${status.clusterID}</code>` },
    { name: 'Age', value: age(creationTimestamp, now) },
    fleet && {
      name: 'Fleet',
      value: markup`<a href="${fleetHref(root, fleet.metadata.namespace ?? '', fleet.metadata.name)}"><bdi>${keyOf(fleet)}</bdi></a>`,
      wide: 'on a phone',
    },
    { name: 'Revision', value: revision(revisionOf(cluster, fleet), fleet) },
    source !== undefined && { name: 'Written in', value: markup`<bdi class="code">${source}</bdi>`, wide: true },
  ])}</section>`;
}

/** Its own where it is told; else what its fleet has applied. */
function revisionOf({ status }: EtcdCluster, fleet: EtcdFleet | undefined): string | undefined {
  return status?.revision ?? fleet?.status?.revision?.applied;
}

function stepCard({ status }: EtcdCluster, now: Date): Html {
  const step = status?.step;
  if (!step) return markup``;
  const { action, target, reason, startedAt, deadline, holder } = step;
  return card(
    'Being done now',
    markup`<p><strong>${action}</strong> <bdi>${target ?? ''}</bdi> · ${reason}</p><p class="quiet small">begun ${ago(startedAt, now)} by <bdi>${holder.pod}</bdi>, to be over ${until(deadline, now)}</p>`,
  );
}

function planCard(plan: PlanView, said: Said): Html {
  const title = 'What comes next';
  switch (plan.kind) {
    case 'planned':
      return card(title, markup`<p class="quiet">${plan.planned.summary}</p>`, planSteps(plan.planned, said));
    case 'none':
      return card(title, empty(plan.message), plan.command !== undefined && commandBlock(plan.command));
  }
}

/** What was done and why, the newest first. */
function historyCard({ status }: EtcdCluster, fleet: EtcdFleet | undefined, now: Date): Html {
  const history = status?.history ?? [];
  if (history.length === 0) return card('What was done', empty('Nothing yet.'));
  return card(
    'What was done',
    markup`<ol class="past" reversed>${history.toReversed().map((entry) => historyItem(entry, fleet, now))}</ol>`,
  );
}

function historyItem(entry: ClusterHistoryEntry, fleet: EtcdFleet | undefined, now: Date): Html {
  const { at, action, target, reason, message, outcome } = entry;
  const failed = outcome === 'failed' && markup`${badge({ tone: 'bad', word: 'failed' })} `;
  return markup`<li><span>${ago(at, now)}</span><div>${failed}<bdi>${message}</bdi><div class="quiet small">${action}${target && markup` <bdi>${target}</bdi>`} · ${reason}${entry.revision !== undefined && markup` · ${revision(entry.revision, fleet)}`}</div></div></li>`;
}
