import { rebootJobName } from '../../manifests/render/reboot-job.ts';
import type { LeavingPod } from './decision.ts';
import { membersOn } from './etcd.ts';
import type { ClusterSeen, NodeSeen, NodesObservation, PodSeen } from './observation.ts';
import type { NodesHost } from './requests/host.ts';

/** Where a plan keeps what it has seen, and what happens to that. */
export interface Sim {
  readonly seen: NodesObservation;
  readonly away: ReadonlyMap<string, Away>;
  readonly grants: number;
}

/** What comes back to a node with its return. */
export interface Away {
  readonly pods: readonly PodSeen[];
  readonly members: ReadonlySet<string>;
}

export const simHost: NodesHost<Sim> = {
  at: ({ seen }) => seen.at,
  // No other client is there.
  isCurrent: () => true,
  node: nodeIn,
  withNode: (sim, node) => onNode(sim, node.name, () => node),
  withPolicy: (sim, policy) => ({ ...sim, seen: { ...sim.seen, policy } }),
  job: (sim, id) => ownerOf(sim, id)?.job,
  withNewJob: (sim, id, name) =>
    onNode(sim, name, (node) => ({ ...node, job: { name: rebootJobName(id), uid: `job-${id}`, state: 'under-way' } })),
  withoutJob: (sim, id) => {
    const owner = ownerOf(sim, id);
    return owner ? onNode(sim, owner.name, ({ job: _, ...node }) => node) : sim;
  },
  held: (sim) => sim,
  letGo: (sim) => sim,
  evicted: (sim, pod) => ({ state: gone(sim, pod), kept: false }),
  led: (sim, { cluster: key, name }) =>
    withClusters(sim, (cluster) =>
      cluster.key === key
        ? { ...cluster, members: cluster.members.map((one) => ({ ...one, leads: one.name === name })) }
        : cluster,
    ),
};

function nodeIn({ seen }: Sim, name: string): NodeSeen | undefined {
  return seen.nodes.find((node) => node.name === name);
}

function ownerOf(sim: Sim, id: string): NodeSeen | undefined {
  const grant = sim.seen.policy.status?.grants?.find((one) => one.id === id);
  return grant && nodeIn(sim, grant.node);
}

/** At once. A member is down until its node is back, as one is whose volume can't leave it. */
function gone(sim: Sim, { uid, resourceVersion, cluster: key }: LeavingPod): Sim {
  const isIt = (pod: PodSeen) => pod.uid === uid && pod.resourceVersion === resourceVersion;
  const node = sim.seen.nodes.find(({ pods }) => pods?.some(isIt));
  if (!node) return sim;
  const { name, pods = [] } = node;
  const earlier = sim.away.get(name);
  const members = sim.seen.clusters.flatMap((cluster) =>
    membersOn(cluster, name).map((one) => `${cluster.key}/${one.name}`),
  );
  const away = new Map(sim.away).set(name, {
    pods: earlier?.pods ?? pods,
    members: new Set([...(earlier?.members ?? []), ...members]),
  });
  const left = onNode({ ...sim, away }, name, (one) => ({ ...one, pods: pods.filter((pod) => !isIt(pod)) }));
  return withClusters(left, (cluster) => (cluster.key === key ? without(cluster, name) : cluster));
}

function without(cluster: ClusterSeen, name: string): ClusterSeen {
  const members = cluster.members.map(({ node, ...member }) =>
    node === name ? { ...member, serves: false, leads: false } : { ...member, ...(node !== undefined && { node }) },
  );
  return { ...cluster, members };
}

export function onNode(sim: Sim, name: string, change: (node: NodeSeen) => NodeSeen): Sim {
  const nodes = sim.seen.nodes.map((node) => (node.name === name ? change(node) : node));
  return { ...sim, seen: { ...sim.seen, nodes } };
}

export function withClusters(sim: Sim, change: (cluster: ClusterSeen) => ClusterSeen): Sim {
  return { ...sim, seen: { ...sim.seen, clusters: sim.seen.clusters.map(change) } };
}
