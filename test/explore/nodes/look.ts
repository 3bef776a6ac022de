import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import type { Mark, Marks } from '../../../reconcile/nodes/marks.ts';
import type {
  ClusterSeen,
  JobSeen,
  MemberSeen,
  NodeSeen,
  NodesObservation,
  PodSeen,
} from '../../../reconcile/nodes/observation.ts';
import { nextOf } from './clusters.ts';
import {
  type ModelCluster,
  type ModelJob,
  type ModelMember,
  type ModelNode,
  type ModelPod,
  type NodesWorld,
  quorum,
  serves,
  serving,
} from './state.ts';

/** What a step of a node policy sees of the truth. */

export const now = new Date('2026-01-02T03:04:05Z');
const longAgo = new Date('2026-01-01T03:04:05Z');

export function look(world: NodesWorld): NodesObservation {
  return {
    at: now,
    policy: policyIn(world),
    nonce: freshId(world),
    nodes: world.nodes.map((node) => nodeSeen(world, node)),
    clusters: world.clusters.map((cluster) => clusterSeen(world, cluster)),
  };
}

export function policyIn({ policy: { spec, grants, kept } }: NodesWorld): EtcdNodePolicy {
  const blocked = kept.map((node) => ({ node, reason: 'EvictionRefused', message: '' }));
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdNodePolicy',
    metadata: { name: 'all', uid: 'p', generation: 1 },
    spec,
    status: { observedGeneration: 1, grants, blocked },
  };
}

/** The first that no mark, grant or Job speaks of: states that differ only in used ones are one. */
function freshId({ nodes, policy, jobs }: NodesWorld): string {
  const words = new Set([
    ...nodes.flatMap(({ marks }) => Object.values(marks).map(({ word }) => word)),
    ...policy.grants.map(({ id }) => id),
    ...jobs.map(({ id }) => id),
  ]);
  for (let turn = 0; ; turn += 1) if (!words.has(`grant-${turn}`)) return `grant-${turn}`;
}

export function bootOf({ name, boot }: ModelNode): string {
  return `${name}-boot-${boot}`;
}

export function nodeSeen(world: NodesWorld, node: ModelNode): NodeSeen {
  const { name, up, cordoned, needed } = node;
  const grant = world.policy.grants.find((one) => one.node === name);
  const job = grant && world.jobs.find(({ id }) => id === grant.id);
  return {
    name,
    uid: `uid-${name}`,
    selected: true,
    ready: up,
    unschedulable: cordoned,
    bootId: bootOf(node),
    marks: marksSeen(node),
    ...(needed !== undefined && { needed }),
    kured: false,
    // As when it is not looked at: it was told to go down, and its next boot has not come.
    ...(node.marks.inProgress?.word !== bootOf(node) && { pods: podsOn(world, name) }),
    ...(job && { job: jobSeen(job) }),
  };
}

function marksSeen({ marks }: ModelNode): Marks {
  const all = Object.entries(marks).map(([key, { word, old }]): [string, Mark] => [
    key,
    { word, at: old ? longAgo : now },
  ]);
  return Object.fromEntries(all);
}

/** Back from what is seen, as it was written. */
export function marksIn(marks: Marks): ModelNode['marks'] {
  const all = Object.entries(marks).map(([key, { word, at }]: [string, Mark]) => [
    key,
    { word, ...(at < now && { old: true }) },
  ]);
  return Object.fromEntries(all);
}

export function jobSeen(job: ModelJob): JobSeen {
  const { state } = job;
  return {
    name: `reboot-${job.id}`,
    uid: jobUid(job),
    state: state === 'waits' ? 'under-way' : state,
  };
}

export function jobUid({ id, turn }: Pick<ModelJob, 'id' | 'turn'>): string {
  return `job-of-${id}.${turn}`;
}

function podsOn(world: NodesWorld, name: string): readonly PodSeen[] {
  const members = world.clusters.flatMap((cluster) =>
    cluster.members.flatMap((member) =>
      member.node === name && member.pod !== 'none' ? [memberPod(cluster, member)] : [],
    ),
  );
  return [...members, ...world.pods.flatMap((pod) => (pod.node === name ? [otherPod(pod)] : []))];
}

export function memberPod({ key }: Pick<ModelCluster, 'key'>, { name, pod, turn }: ModelMember): PodSeen {
  const of = { namespace: 'shop', name: `${name}-0`, uid: `${name}.${turn}`, resourceVersion: pod };
  return { ...of, kind: 'member', cluster: key, leaving: pod === 'leaving', blocks: false };
}

export function otherPod({ name, turn, leaving }: ModelPod): PodSeen {
  const of = { namespace: 'shop', name, uid: `${name}.${turn}`, resourceVersion: leaving ? 'leaving' : 'up' };
  return { ...of, kind: 'managed', leaving: leaving === true, blocks: false };
}

function clusterSeen(world: NodesWorld, cluster: ModelCluster): ClusterSeen {
  const { key, members, leader } = cluster;
  const hasQuorum = serving(world, cluster).length >= quorum(cluster);
  const next = nextOf(world, cluster);
  const busy = cluster.lease
    ? ({ kind: 'held', why: 'a step acts on it' } as const)
    : next && ({ kind: next.kind, why: next.kind === 'act' ? 'it would act' : 'it waits' } as const);
  return {
    key,
    ...(busy && { busy }),
    mayLoseQuorum: false,
    ...(hasQuorum && { clusterId: 'c' }),
    voters: members.length,
    learners: 0,
    members: members.map(
      (member): MemberSeen => ({
        name: member.name,
        memberId: member.name,
        ...(member.pod !== 'none' && { node: member.node }),
        voter: true,
        serves: serves(world, member),
        leads: member.name === leader,
        log: 100n,
      }),
    ),
  };
}
