import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import { keyOf, ownObjects } from '../../reconcile/fleet/names.ts';
import { clusterConcerns, fleetConcerns, leftOutConcern } from './attention.ts';
import { chips, chosenOf } from './chips.ts';
import { clusterTable } from './cluster-table.ts';
import { layout } from './layout.ts';
import { clusterHref, fleetHref } from './links.ts';
import { type Html, markup } from './markup.ts';
import { nodesCards } from './nodes.ts';
import { type Paged, pageOf, pager } from './pager.ts';
import { concern, concerns, empty, revision, stateBadge } from './parts.ts';
import { hrefOf, plainQuery, type Query } from './query.ts';
import { type Said, saying } from './said.ts';
import type { Sight } from './sight.ts';
import { byUrgency, clusterState, fleetState, type Tone } from './state.ts';
import { ago } from './time.ts';
import { commandBlock } from './told.ts';

export interface HomeData {
  readonly fleets: readonly EtcdFleet[];
  readonly clusters: readonly EtcdCluster[];
  /** Namespaces that are too large to be read. */
  readonly leftOut?: Sight['leftOut'];
  readonly policies?: readonly EtcdNodePolicy[];
  /** Its page is one of the clusters that no fleet owns. */
  readonly query?: Query;
  /** The user may not see everything. */
  readonly partial?: boolean;
  readonly now: Date;
}

/** A fleet's own page has all of its clusters, and all of its problems. */
const mostPerFleet = 50;
const mostConcerns = 20;
const mostFleets = 100;

/** The first page: what needs a person, and the state of every fleet and cluster. */
export function homePage({
  fleets,
  clusters,
  leftOut = new Map(),
  policies = [],
  query = plainQuery,
  partial = false,
  now,
}: HomeData): Html {
  const root = '';
  const chosen = chosenOf(clusters, query);
  const owned = new Map(fleets.map((fleet) => [fleet, ownObjects(fleet, chosen)]));
  const known = new Set([...owned.values()].flat());
  const free = pageOf(
    byUrgency(
      chosen.filter((cluster) => !known.has(cluster)),
      clusterState,
    ),
    query.page,
  );
  const all = concernsOf({ fleets, clusters, leftOut }, root, now);
  const isFiltered = query.state !== undefined;
  const urgent = isFiltered ? concernsOf({ fleets: [], clusters: chosen, leftOut: new Map() }, root, now) : all;
  const asked = fleets.filter((fleet) => !isFiltered || (owned.get(fleet) ?? []).length > 0);
  const shown = byUrgency(asked, fleetState).slice(0, mostFleets);
  const { said } = urgent;
  const body = markup`<h1>Clusters</h1>
${chips(clusters, query)}
${urgent.html}
${shown.map((fleet) => fleetCard(fleet, owned.get(fleet) ?? [], { root, query, said, now }))}
${asked.length > shown.length && markup`${empty(`and ${asked.length - shown.length} more fleets:`)}${commandBlock('kubectl get etcdfleets.etcd.ratchet.dev --all-namespaces')}`}
${freeCard(free, { title: titleOfFree(fleets.length > 0, partial), query, said, now })}
${nodesCards(policies, now)}
${fleets.length + clusters.length === 0 && nothingYet(partial)}
${partial && fleets.length + clusters.length > 0 && markup`<p class="quiet small">You see the namespaces in which you may list EtcdFleets or EtcdClusters.</p>`}`;
  return layout({
    title: titleOf(all.bad),
    root,
    tone: toneOf(clusters, all.bad),
    query: { ...query, page: free.page },
    now,
    body,
  });
}

function titleOf(bad: number): string {
  return bad === 0 ? 'etcd-ratchet' : `(${bad}) etcd-ratchet`;
}

function toneOf(clusters: readonly EtcdCluster[], bad: number): Tone {
  if (bad > 0) return 'bad';
  return clusters.some((cluster) => clusterState(cluster).tone === 'busy') ? 'busy' : 'good';
}

function concernsOf(
  { fleets, clusters, leftOut }: Omit<Sight, 'partial'>,
  root: string,
  now: Date,
): { readonly html: Html; readonly bad: number; readonly said: Said } {
  const all = [
    ...[...leftOut].map((one) => ({ what: leftOutConcern(one), about: () => markup`namespace <bdi>${one[0]}</bdi>` })),
    ...fleets.flatMap((fleet) =>
      fleetConcerns(fleet, now).map((what) => ({ what, about: () => fleetLink(fleet, root) })),
    ),
    ...clusters.flatMap((cluster) =>
      clusterConcerns(cluster).map((what) => ({ what, about: () => clusterLink(cluster, root) })),
    ),
  ].toSorted((a, b) => (a.what.tone === b.what.tone ? 0 : a.what.tone === 'bad' ? -1 : 1));
  const bad = all.filter(({ what }) => what.tone === 'bad').length;
  const more = all.length - mostConcerns;
  const listed = all.slice(0, mostConcerns);
  const items = listed.map(({ what, about }) => concern(what, about()));
  const html = markup`${concerns(items)}${more > 0 && markup`<p class="quiet">and ${more} more; every fleet and cluster has its own below</p>`}`;
  return { html, bad, said: saying(listed.map(({ what }) => what.message)) };
}

function fleetLink(fleet: EtcdFleet, root: string): Html {
  const { namespace = '', name } = fleet.metadata;
  return markup`fleet <a href="${fleetHref(root, namespace, name)}"><bdi>${keyOf(fleet)}</bdi></a>`;
}

function clusterLink(cluster: EtcdCluster, root: string): Html {
  const { namespace = '', name } = cluster.metadata;
  return markup`<a href="${clusterHref(root, namespace, name)}"><bdi>${keyOf(cluster)}</bdi></a>`;
}

function fleetCard(
  fleet: EtcdFleet,
  clusters: readonly EtcdCluster[],
  { root, query, said, now }: { readonly root: string; readonly query: Query; readonly said: Said; readonly now: Date },
): Html {
  const { metadata, status } = fleet;
  const { namespace = '', name } = metadata;
  const state = fleetState(fleet);
  const href = fleetHref(root, namespace, name);
  const shown = byUrgency(clusters, clusterState).slice(0, mostPerFleet);
  const problems = status?.problemCount ?? status?.problems?.length ?? 0;
  return markup`<section class="card" aria-label="Fleet ${keyOf(fleet)}"><div class="title"><h2><a href="${href}"><bdi>${keyOf(fleet)}</bdi></a></h2>${stateBadge(state)}</div>
<p class="quiet small sub">${revision(status?.revision?.applied ?? status?.revision?.attempted, fleet)} · last pass ${ago(status?.lastRun, now)}${problems > 0 && markup` · <a href="${href}">${problems === 1 ? '1 problem' : `${problems} problems`} in documents</a>`}</p>
${shown.length > 0 ? clusterTable({ clusters: shown, root, said, now }) : empty('No cluster yet.')}
${clusters.length > shown.length && markup`<p class="more"><a href="${href}${query.state !== undefined && hrefOf({ ...query, page: 1 })}">All ${clusters.length} clusters</a></p>`}</section>`;
}

/** A fleet that may not be seen may have some of them. */
function titleOfFree(beside: boolean, partial: boolean): string {
  if (!beside) return 'Clusters';
  return partial ? 'Other clusters' : 'Clusters without a fleet';
}

function freeCard(
  free: Paged<EtcdCluster>,
  {
    title,
    query,
    said,
    now,
  }: { readonly title: string; readonly query: Query; readonly said: Said; readonly now: Date },
): Html {
  if (free.total === 0) return markup``;
  return markup`<section class="card" aria-label="${title}"><div class="title"><h2>${title}</h2></div>${clusterTable({ clusters: free.items, root: '', said, now })}${pager(free, query)}</section>`;
}

function nothingYet(partial: boolean): Html {
  return partial
    ? markup`<section class="card"><h2>Nothing that you may see</h2><p>There is no EtcdFleet and no EtcdCluster in a namespace in which you may list them. Your administrator can bind the ClusterRole <code>view</code> to you there.</p></section>`
    : markup`<section class="card"><h2>Nothing here yet</h2><p>There is no EtcdFleet and no EtcdCluster. Apply an EtcdFleet that names your repository, and its clusters appear here.</p></section>`;
}
