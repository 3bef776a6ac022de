import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { toldBeside } from './attention.ts';
import { clusterHref } from './links.ts';
import { type Html, markup } from './markup.ts';
import { stateBadge, table } from './parts.ts';
import { nothingSaid, type Said } from './said.ts';
import { firstSentence } from './short.ts';
import { byUrgency, clusterState } from './state.ts';
import { age } from './time.ts';

export interface ClusterTable {
  readonly clusters: readonly EtcdCluster[];
  readonly root: string;
  /** What stands above already. */
  readonly said?: Said;
  readonly now: Date;
}

/** Characters of a message; the cluster's own page has all of it. */
const longest = 160;

const heads = ['Cluster', 'State', 'Ready', 'Version', 'Leader', 'Age'];

/** One line per cluster; clusters that need a person come first. */
export function clusterTable({ clusters, root, said = nothingSaid, now }: ClusterTable): Html {
  return table(
    heads,
    byUrgency(clusters, clusterState).map((cluster) => row(cluster, { root, said, now })),
    'clusters',
  );
}

function row(cluster: EtcdCluster, { root, said, now }: Required<Omit<ClusterTable, 'clusters'>>): Html {
  const { metadata, spec, status } = cluster;
  const { namespace = '', name, creationTimestamp } = metadata;
  const state = clusterState(cluster);
  const { reason = '', message: whole = '' } = toldBeside(cluster) ?? {};
  // What stands above needs no second time.
  const message = said.has(whole) ? reason : whole;
  return markup`<tr role="row"><th scope="row" role="rowheader"><a href="${clusterHref(root, namespace, name)}"><bdi>${namespace}/${name}</bdi></a></th><td role="cell" data-label="State" class="state"><span>${stateBadge(state)}${message !== '' && markup`<span class="said"><bdi>${firstSentence(message, longest)}</bdi></span>`}</span></td><td role="cell" data-label="Ready" class="nowrap">${status?.readyReplicas ?? 0}/${spec.replicas}</td><td role="cell" data-label="Version"><span>${versions(cluster)}</span></td><td role="cell" data-label="Leader"${!status?.leader && markup` class="none"`}>${status?.leader ? markup`<bdi>${status.leader}</bdi>` : markup`<span class="quiet">–</span>`}</td><td role="cell" data-label="Age" class="nowrap">${age(creationTimestamp, now)}</td></tr>`;
}

/** What runs, and what is asked for where that differs. */
export function versions({ spec, status }: EtcdCluster): Html {
  const asked = spec.version.replace(/^v/, '');
  const runs = status?.version;
  if (runs === undefined) return markup`<span class="quiet">${asked}</span>`;
  return runs === asked ? markup`${runs}` : markup`${runs} <span class="quiet">→ ${asked}</span>`;
}
