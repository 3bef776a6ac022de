import { moved } from '../../../reconcile/cluster/know/outcome.ts';
import type { LeavingPod } from '../../../reconcile/nodes/decision.ts';
import type { NodesHost } from '../../../reconcile/nodes/requests/host.ts';
import { StepError } from '../../../reconcile/requests/refusals.ts';
import { free, mayGo } from './clusters.ts';
import { bootOf, jobSeen, marksIn, memberPod, nodeSeen, now, otherPod } from './look.ts';
import { type ModelNode, type NodesWorld, onCluster, onMember, onNode, serves, settled } from './state.ts';

/** What only a bug does: see `bugs.ts`. */
export interface Nature {
  /** Disruption budgets let any member go. */
  readonly letsAnyGo: boolean;
}

/** What the API server and etcd do at once, in the world of a search. */
export function worldHost(nature: Nature): NodesHost<NodesWorld> {
  return {
    at: () => now,
    isCurrent: () => true,
    node: (world, name) => {
      const node = world.nodes.find((one) => one.name === name);
      return node && nodeSeen(world, node);
    },
    withNode: (world, { name, marks, unschedulable, needed }) =>
      onNode(world, name, ({ needed: _, takenBack, ...node }): ModelNode => {
        // Our cordon begins anew what a person ended.
        const stays = takenBack && !(unschedulable && !node.cordoned);
        return {
          ...node,
          marks: marksIn(marks),
          cordoned: unschedulable,
          ...(needed !== undefined && { needed }),
          ...(stays && { takenBack }),
        };
      }),
    withPolicy: (world, { status }) => ({
      ...world,
      policy: {
        ...world.policy,
        grants: status?.grants ?? [],
        kept: (status?.blocked ?? []).flatMap(({ node, reason }) => (reason === 'EvictionRefused' ? [node] : [])),
      },
    }),
    job: (world, id) => {
      const job = world.jobs.find((one) => one.id === id);
      return job && jobSeen(job);
    },
    withNewJob: (world, id, name) => {
      const words = world.nodes.flatMap(({ marks }) => marks.now?.word ?? []);
      let turn = 0;
      while (words.includes(`job-of-${id}.${turn}`)) turn += 1;
      const node = world.nodes.find((one) => one.name === name);
      const bootID = world.policy.grants.find((one) => one.id === id)?.bootID ?? (node ? bootOf(node) : '');
      return { ...world, jobs: [...world.jobs, { id, turn, node: name, bootID, state: 'waits' }] };
    },
    withoutJob: (world, id) => ({ ...world, jobs: world.jobs.filter((one) => one.id !== id) }),
    held: (world, key) => {
      if (world.clusters.find((one) => one.key === key)?.lease) throw moved(`a step of ${key} is under way`);
      return onCluster(world, key, ({ looked: _, ...one }) => ({ ...one, lease: { by: 'nodes' } }));
    },
    letGo: free,
    evicted: (world, pod) => evicted(world, pod, nature),
    led: (world, { cluster: key, name }) => {
      const cluster = world.clusters.find((one) => one.key === key);
      const next = cluster?.members.find((one) => one.name === name);
      if (!cluster?.leader || !next || !serves(world, next))
        throw new StepError({ class: 'retryable', reason: 'EtcdUnreachable', message: `${name} can not lead` });
      return onCluster(world, key, (one) => ({ ...one, leader: name }));
    },
  };
}

function evicted(world: NodesWorld, pod: LeavingPod, { letsAnyGo }: Nature) {
  const other = world.pods.find((one) => otherPod(one).uid === pod.uid);
  if (other) {
    if (other.keeps) return { state: world, kept: true };
    const pods = world.pods.map((one) => (one === other ? { ...one, leaving: true as const } : one));
    return { state: { ...world, pods }, kept: false };
  }
  for (const cluster of world.clusters) {
    const member = cluster.members.find((one) => one.pod !== 'none' && isThat(memberPod(cluster, one), pod));
    if (!member) continue;
    if (!letsAnyGo && !pod.byDeletion && !mayGo(world, cluster, member.name)) return { state: world, kept: true };
    const after = onMember(world, member.name, (one) => ({ ...one, pod: 'leaving', away: true }));
    return { state: settled(after), kept: false };
  }
  return { state: world, kept: false };
}

function isThat(found: { readonly uid: string; readonly resourceVersion: string }, pod: LeavingPod): boolean {
  return found.uid === pod.uid && found.resourceVersion === pod.resourceVersion;
}
