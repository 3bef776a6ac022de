import type { Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { theirs } from './invariants.ts';
import { type Data, idOf, type Member } from './members.ts';
import { hasQuorum } from './quorum.ts';
import type { Formation } from './state.ts';
import { namespace, type World } from './world.ts';

/** An etcd cluster that etcd-ratchet did not make. None of its pods is of a controller of this world. */

export interface Others {
  readonly pods: readonly string[];
  readonly clusterID: string;
  readonly memberIDs: readonly string[];
  readonly podLabels: Readonly<Record<string, string>>;
}

const version = '3.6.16';
const podLabels = { app: 'legacy' };
const clusterID = idOf('the cluster of others');

/** They serve, and have some writes; the last of them leads. */
export function startOthers(world: World, pods: readonly string[]): Others {
  const members = pods.map((pod) => memberOf(pod));
  const memberIDs = members.map(({ id }) => id);
  const formation: Formation = {
    members,
    removed: new Set(),
    published: new Map(pods.map((pod) => [memberOf(pod).id, pod])),
    leader: memberIDs.at(-1) ?? '',
    acknowledged: 5,
    changes: 0,
    version: '3.6',
    ...{ arriving: 0, ancient: 0, formed: true },
    others: memberIDs,
  };
  world.formations.set(clusterID, formation);
  for (const pod of pods) {
    const memberId = memberOf(pod).id;
    run(world, pod, { clusterId: clusterID, memberId, version, snapshot: 0, applied: formation.acknowledged });
  }
  return { pods, clusterID, memberIDs, podLabels };
}

/** Its container ends, and does not start until {@link startOther}. */
export function stopOther(world: World, pod: string): void {
  world.processes.delete(uidOf(pod));
  world.state.changes += 1;
}

export function startOther(world: World, pod: string): void {
  const data = world.disks.get(uidOf(pod));
  if (data) run(world, pod, data);
}

/** A pod without a volume that lost its container: it begins a cluster of its own, with its old name. */
export function beginAnew(world: World, pod: string): void {
  const member = { ...memberOf(pod), id: idOf(`${pod} anew`) };
  const clusterId = idOf(`begun by ${pod}`);
  const empty = { removed: new Set<string>(), published: new Map<string, string>(), acknowledged: 0, changes: 0 };
  world.formations.set(clusterId, { members: [member], ...empty, arriving: 0, ancient: 0, formed: false });
  run(world, pod, { clusterId, memberId: member.id, version, snapshot: 0, applied: 0 });
}

/** What manages them adds a voter, as an operator does that makes its number equal again. */
export function addOther(world: World, pod: string): void {
  const formation = formationOf(world);
  const member = memberOf(`${pod} ${formation.changes}`, pod);
  formation.changes += 1;
  formation.members = [...formation.members, member];
  const { acknowledged: applied } = formation;
  run(world, pod, { clusterId: clusterID, memberId: member.id, version, snapshot: 0, applied });
}

/** What manages them takes one off, as an operator does that was scaled down. */
export function removeOther(world: World, pod: string): void {
  const formation = formationOf(world);
  const leaver = formation.members.find(({ url }) => url === memberOf(pod).url);
  formation.members = formation.members.filter((member) => member !== leaver);
  if (leaver) formation.removed.add(leaver.id);
  stopOther(world, pod);
}

/** The list of their cluster, by name. */
export function namesOnTheirList(world: World): readonly string[] {
  const { members, published } = formationOf(world);
  return members.map(({ id }) => published.get(id) ?? id).toSorted();
}

export function theyServe(world: World): boolean {
  return hasQuorum(world.state, clusterID);
}

function formationOf(world: World): Formation {
  const formation = world.formations.get(clusterID);
  if (!formation) throw new Error('there are no others in this world');
  return formation;
}

function memberOf(seed: string, pod = seed): Member {
  return { id: idOf(seed), url: `http://${pod}.legacy.${namespace}.svc:2380`, isLearner: false };
}

function run(world: World, pod: string, data: Data): void {
  const { state } = world;
  const uid = uidOf(pod);
  state.addresses += 1;
  const address = `10.99.0.${state.addresses}`;
  state.disks.set(uid, data);
  const metadata = { namespace, name: pod, uid, labels: podLabels, annotations: { [theirs]: '' } };
  const spec = { nodeName: 'node-1', containers: [{ name: 'etcd' }] };
  const status = { phase: 'Running' as const, podIP: address };
  state.kube.seed<Pod>(resources.pods, { metadata, spec, status } as Pod);
  const etcd = { data, address, version, snapshotCount: 10_000, served: false };
  state.processes.set(uid, { pod: `${namespace}/${pod}`, cluster: '', ...etcd });
}

function uidOf(pod: string): string {
  return `others-${pod}`;
}
