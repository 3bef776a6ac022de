import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { ClusterMemberStatus } from '../../manifests/api/etcd-cluster-status.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { FleetInventoryEntry } from '../../manifests/api/etcd-fleet-status.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { labels } from '../../manifests/render/names.ts';
import { calledOf, kindOfEntry } from '../../reconcile/fleet/objects.ts';
import { type KubeObject, type Resource, resources } from '../../reconcile/interfaces/kube.ts';
import { byUrgency, clusterState, fleetState, type State } from '../page/state.ts';
import { memberCell, roleOf } from './cluster-screen.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { shownKind } from './kinds/kinds.ts';
import { kindWords } from './kinds/words.ts';
import { dataText, fleetNamed, refuseMissing } from './objects.ts';
import { listPermitted, tellForbidden } from './permitted.ts';
import { type Cell, table } from './table.ts';
import { inShort, stateCell } from './words.ts';

/** One object, and what it consists of. */
interface Branch {
  readonly what: string;
  readonly state: Cell;
  readonly detail: string;
  readonly parts: readonly Branch[];
}

/** A person who may not list all namespaces at once has each of so many listed. */
const mostNamespaces = 50;

/** From fleets by clusters and members to pods; clusters of no fleet stand beside them. */
export async function tree(
  name: string | undefined,
  asked: Asked,
  { allNamespaces }: { readonly allNamespaces: boolean },
): Promise<ExitCode> {
  if (name !== undefined && allNamespaces) throw new Refusal('a fleet has one namespace: name it by -n, without -A');
  const { out, err, output, colours, namespace } = asked;
  const forbidden = new Set<string>();
  const where = allNamespaces ? undefined : namespace;
  const fleets =
    name === undefined
      ? await listPermitted<EtcdFleet>(asked, resources.fleets, { namespace: where }, forbidden)
      : [await fleetNamed(name, asked)];
  const objects = await objectsBelow(fleets, { where, isAlone: name !== undefined }, asked, forbidden);
  if (name === undefined && where !== undefined && fleets.length === 0 && objects.clusters.length === 0)
    await refuseMissing({ ...asked, namespace: where });
  const now = asked.now();
  const own = new Set(fleets.flatMap(({ status }) => (status?.inventory ?? []).map(({ uid }) => uid)));
  const alone = name === undefined ? objects.clusters.filter(({ metadata }) => !own.has(metadata.uid ?? '')) : [];
  const roots = [
    ...byUrgency(fleets, fleetState).map((fleet) => fleetBranch(fleet, objects, now)),
    ...byUrgency(alone, clusterState).map((cluster) => clusterBranch(cluster, objects, now)),
  ];
  if (output !== 'text') out(dataText({ tree: roots.map(dataOf), notRead: [...forbidden] }, output));
  else if (roots.length === 0)
    err(
      `there is no EtcdFleet and no EtcdCluster in ${where === undefined ? 'any namespace' : `namespace ${where}; look into all of them with -A`}\n`,
    );
  else
    out(
      table(
        ['OBJECT', 'STATE', 'DETAIL'],
        roots.flatMap((root) => rowsOf(root, '', '')),
        colours,
      ),
    );
  tellForbidden(forbidden, asked);
  return 0;
}

interface Objects {
  readonly clusters: readonly EtcdCluster[];
  readonly pods: readonly Pod[];
  /** By UID, of kinds other than clusters. */
  readonly others: ReadonlyMap<string, KubeObject>;
  /** Plurals that could not be listed everywhere. */
  readonly forbidden: ReadonlySet<string>;
}

async function objectsBelow(
  fleets: readonly EtcdFleet[],
  { where, isAlone }: { readonly where: string | undefined; readonly isAlone: boolean },
  asked: Asked,
  forbidden: Set<string>,
): Promise<Objects> {
  const inventory = fleets.flatMap(({ status }) => status?.inventory ?? []);
  const own = new Set([...(isAlone ? [] : [asked.namespace]), ...inventory.map(({ namespace }) => namespace)]);
  own.delete('');
  if (where !== undefined && own.size > mostNamespaces)
    throw new Refusal(`its clusters are in ${own.size} namespaces, too many to list one by one: look with -A`);
  const namespaces = where === undefined ? [undefined] : [...own];
  const all = async <T extends KubeObject>(resource: Resource, labelSelector?: string): Promise<readonly T[]> => {
    const places = resource.clusterScoped ? [undefined] : namespaces;
    const select = labelSelector === undefined ? {} : { labelSelector };
    const lists = places.map((namespace) => listPermitted<T>(asked, resource, { namespace, ...select }, forbidden));
    return (await Promise.all(lists)).flat();
  };
  const kinds = [...new Set(inventory.map(kindOfEntry))].filter((kind) => kind !== 'EtcdCluster');
  const [clusters, pods, ...others] = await Promise.all([
    all<EtcdCluster>(resources.clusters),
    all<Pod>(resources.pods, labels.cluster),
    ...kinds.map((kind) => all(kindWords[kind].resource)),
  ]);
  const byUid = new Map(others.flat().map((object) => [object.metadata.uid ?? '', object]));
  return { clusters, pods, others: byUid, forbidden };
}

function fleetBranch(fleet: EtcdFleet, objects: Objects, now: Date): Branch {
  const { metadata, status } = fleet;
  const state = fleetState(fleet);
  const inventory = status?.inventory ?? [];
  const of = new Map(objects.clusters.map((cluster) => [cluster.metadata.uid ?? '', cluster]));
  const clusters = inventory.flatMap(({ uid }) => of.get(uid) ?? []);
  const others = inventory.filter(({ uid }) => !of.has(uid));
  return {
    what: calledOf('EtcdFleet', metadata),
    state: stateCell(state),
    detail: detailOf(state, status?.revision?.applied ?? ''),
    parts: [
      ...byUrgency(clusters, clusterState).map((cluster) => clusterBranch(cluster, objects, now)),
      ...others.map((entry) => entryBranch(entry, objects)),
    ],
  };
}

/** An object of another kind, or one that is not seen. */
function entryBranch(entry: FleetInventoryEntry, { others, forbidden }: Objects): Branch {
  const kind = kindOfEntry(entry);
  const what = calledOf(kind, entry);
  const object = others.get(entry.uid);
  if (object) {
    const state = shownKind(kind).state(object);
    return { what, state: stateCell(state), detail: detailOf(state, ''), parts: [] };
  }
  const isHidden = forbidden.has(kindWords[kind].resource.plural);
  const detail = isHidden ? 'you may not read it' : `its fleet applied it, from ${entry.source}`;
  return { what, state: { tone: isHidden ? 'calm' : 'bad', text: isHidden ? 'Unknown' : 'Gone' }, detail, parts: [] };
}

function clusterBranch(cluster: EtcdCluster, objects: Objects, now: Date): Branch {
  const { metadata, spec, status } = cluster;
  const state = clusterState(cluster);
  const pods = objects.pods.filter(
    (pod) => pod.metadata.namespace === metadata.namespace && pod.metadata.labels?.[labels.cluster] === metadata.name,
  );
  const members = status?.members ?? [];
  const known = new Set(members.map(({ name }) => name));
  const others = pods.filter((pod) => !known.has(memberOf(pod)));
  return {
    what: calledOf('EtcdCluster', metadata),
    state: stateCell(state),
    detail: detailOf(state, `${status?.readyReplicas ?? 0}/${spec.replicas} healthy, etcd ${status?.version ?? '-'}`),
    parts: [...members.map((member) => memberBranch(member, status?.leader, pods, now)), ...others.map(podBranch)],
  };
}

function memberBranch(
  member: ClusterMemberStatus,
  leader: string | undefined,
  pods: readonly Pod[],
  now: Date,
): Branch {
  return {
    what: `member ${member.name}`,
    state: memberCell(member, now),
    detail: roleOf(member, leader),
    parts: pods.filter((pod) => memberOf(pod) === member.name).map(podBranch),
  };
}

function memberOf({ metadata }: Pod): string {
  return metadata.labels?.[labels.peer] ?? '';
}

function podBranch({ metadata, spec, status }: Pod): Branch {
  const isReady = status?.conditions?.some(({ type, status: said }) => type === 'Ready' && said === 'True') ?? false;
  const phase = status?.phase ?? 'Pending';
  const tone = isReady || phase === 'Succeeded' ? 'good' : phase === 'Failed' ? 'bad' : 'busy';
  const text = phase === 'Running' && !isReady ? 'Running, not Ready' : phase;
  return {
    what: `Pod ${metadata.name}`,
    state: { tone, text },
    detail: spec.nodeName === undefined ? 'on no node yet' : `on ${spec.nodeName}`,
    parts: [],
  };
}

function detailOf({ tone, message }: State, well: string): string {
  return tone === 'good' ? well : inShort(message);
}

/** `├─ ` before all but the last part, and a line down beside what belongs to the earlier ones. */
function rowsOf({ what, state, detail, parts }: Branch, lead: string, indent: string): readonly (readonly Cell[])[] {
  const below = parts.flatMap((part, at) => {
    const isLast = at === parts.length - 1;
    return rowsOf(part, `${indent}${isLast ? '└─ ' : '├─ '}`, `${indent}${isLast ? '   ' : '│  '}`);
  });
  return [[`${lead}${what}`, state, detail], ...below];
}

function dataOf({ what, state, detail, parts }: Branch): object {
  const word = typeof state === 'string' ? state : state.text;
  return { object: what, state: word, detail, ...(parts.length > 0 && { parts: parts.map(dataOf) }) };
}
