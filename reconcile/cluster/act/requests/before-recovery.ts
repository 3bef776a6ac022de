import type { Pod, StatefulSet } from '../../../../manifests/kube-types.ts';
import { labels, ordinalOf, podName } from '../../../../manifests/render/names.ts';
import type { Recovery } from '../../../../manifests/render/volume-record.ts';
import { type EndpointStatus, EtcdError, type MemberMetrics } from '../../../interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../interfaces/etcd-admin.ts';
import { resources } from '../../../interfaces/kube.ts';
import { listOursAnd } from '../actions/context.ts';
import type { LogSeen } from './host.ts';
import { getOne, type Live } from './live.ts';
import { defineRequest } from './request.ts';

/** A recovery that a person approved: the questions before all members stop, and before a Job has a volume. */

/** Whether a member that can be asked hears a quorum. */
export const askQuorum = defineRequest('askQuorum', {
  words: () => 'sees whether a quorum answers',
  live: async (_: Record<string, never>, live): Promise<boolean> => live.etcd.endpoints.size > 0 && hasQuorum(live),
  model: (state, _, host) => ({ state, answer: host.etcd.hasQuorum(state) }),
});

async function hasQuorum({ etcdNow, signal }: Live): Promise<boolean> {
  const { etcd, endpoints } = await etcdNow();
  try {
    await etcd.members(endpoints, { signal });
    return true;
  } catch (error) {
    if (error instanceof EtcdError) return false;
    throw error;
  }
}

/** The rest of a quorum: whether there is one, and how far the log of every member that answers is decided. */
export interface Remains {
  readonly quorum: boolean;
  readonly logs: readonly LogSeen[];
}

/** All of it at one moment. */
export const askRemains = defineRequest('askRemains', {
  words: () => 'asks every member how far its log goes, and whether a quorum answers',
  live: async (_: Record<string, never>, live): Promise<Remains> => {
    const { etcd, endpoints } = await live.etcdNow();
    const ask = (endpoint: string) => askLog(etcd, endpoint, live.signal);
    const [quorum, asked] = await Promise.all([hasQuorum(live), Promise.all(endpoints.map(ask))]);
    const told = asked.flatMap((one) => one ?? []);
    return { quorum: quorum || told.some(isLed), logs: told.flatMap((one) => (isLed(one) ? [] : logSeen(one))) };
  },
  model: (state, _, host) => ({
    state,
    answer: { quorum: host.etcd.hasQuorum(state), logs: host.etcd.logs(state) },
  }),
});

/** What it says of itself, or, where it was started without a quorum, its metrics. */
async function askLog(etcd: EtcdAdmin, endpoint: string, signal: AbortSignal): Promise<Told | undefined> {
  try {
    return await etcd.status(endpoint, { signal }).catch(() => etcd.metrics(endpoint, { signal }));
  } catch (error) {
    if (error instanceof EtcdError) return undefined;
    throw error;
  }
}

type Told = EndpointStatus | MemberMetrics;

/** It answers no client, and yet hears a leader: a quorum is there, or comes. */
function isLed(told: Told): boolean {
  return 'hasLeader' in told && told.hasLeader;
}

/** Of a member that answers or only tells its metrics. After a start, all that is decided is applied. */
export function logSeen(told: Told): LogSeen {
  const { memberId, revision } = told;
  const index = 'applied' in told ? told.applied : told.raftIndex;
  const isSettled = 'applied' in told || told.raftAppliedIndex >= index;
  return { memberId, raftIndex: String(index), revision: String(revision), isSettled };
}

type Nodes = Recovery['lastSeenOn'];

/** Which node each member's pod is on, by the member's name; what is known is left out. */
export const seeWhereTheyRun = defineRequest('seeWhereTheyRun', {
  words: () => 'sees on which nodes the members are',
  live: async ({ known }: { readonly known: Nodes }, live): Promise<Nodes> => {
    const { metadata, status } = live.cluster;
    const members = (status?.members ?? []).map((member) => podName(member.name));
    const pods = await listOursAnd<Pod>(live, resources.pods, members);
    return without(known, nodesOf(pods.flatMap((pod) => placeOf(pod, metadata.name))));
  },
  model: (state, { known }, host) => ({ state, answer: without(known, host.recovery.nodes(state)) }),
});

function without(known: Nodes, nodes: Nodes): Nodes {
  const left = Object.entries(nodes).map(
    ([name, seen]) => [name, seen.filter((node) => !known[name]?.includes(node))] as const,
  );
  return Object.fromEntries(left.filter(([, seen]) => seen.length > 0));
}

/** Several pods may have one member's name. Each of their nodes counts: the end of each pod must be seen. */
function nodesOf(places: readonly (readonly [string, string])[]): Nodes {
  const nodes = new Map<string, readonly string[]>();
  for (const [name, node] of places) nodes.set(name, [...new Set([...(nodes.get(name) ?? []), node])]);
  return Object.fromEntries(nodes);
}

/** Any client may have given our label to a pod, with any value. */
function placeOf({ metadata, spec }: Pod, cluster: string): readonly (readonly [string, string])[] {
  const member = metadata.labels?.[labels.peer] ?? metadata.name.replace(/-0$/, '');
  const isOurs = ordinalOf(cluster, member) !== undefined;
  return isOurs && spec.nodeName !== undefined ? [[member, spec.nodeName]] : [];
}

export interface OfMember {
  /** Of the member whose volume the cluster goes on from. */
  readonly name: string;
}

/** Whether anything of a member runs, or may be made to run at any moment. */
export const askWhatRuns = defineRequest('askWhatRuns', {
  words: ({ name }: OfMember) => `sees whether anything of ${name} runs`,
  live: async ({ name }, live): Promise<boolean> => {
    const [set, pod] = await Promise.all([
      getOne<StatefulSet>(live, resources.statefulSets, name),
      getOne<Pod>(live, resources.pods, podName(name)),
    ]);
    return set !== undefined || pod !== undefined;
  },
  model: (state, { name }, host) => ({
    state,
    answer: host.get(state, name, 'statefulSet') !== undefined || host.pod(state, name) !== undefined,
  }),
});
