import {
  type ModelCluster,
  type NodesEvent,
  type NodesWorld,
  onCluster,
  onMember,
  quorum,
  serves,
  serving,
  settled,
} from './state.ts';

/** A cluster's own steps, as small as they can be: a look, a lease, and one member that is rolled or leaves. */

export type Next =
  | { readonly kind: 'wait' }
  | { readonly kind: 'act'; readonly target: string; readonly leaves: boolean };

/** What its own rules would say: one member at a time, with all others healthy. */
export function nextOf(world: NodesWorld, cluster: ModelCluster): Next | undefined {
  const { members, wanted } = cluster;
  if (serving(world, cluster).length < members.length) return { kind: 'wait' };
  if (members.length > wanted) return { kind: 'act', target: members.at(-1)?.name ?? '', leaves: true };
  const old = members.find((member) => member.old);
  return old && { kind: 'act', target: old.name, leaves: false };
}

type Emit = (event: NodesEvent, after: NodesWorld) => unknown;

export function clusterSteps(world: NodesWorld, emit: Emit): void {
  for (const cluster of world.clusters) clusterStep(world, cluster, emit);
}

function clusterStep(world: NodesWorld, cluster: ModelCluster, emit: Emit): void {
  const { key, lease, looked } = cluster;
  if (lease?.dead) {
    emit({ who: 'world', what: `the lease of ${key} ends` }, free(world, key));
    return;
  }
  if (lease?.by === 'nodes') return;
  if (lease) {
    acts(world, cluster, emit);
    return;
  }
  const next = nextOf(world, cluster);
  // What it decided stays decided until its lease is refused: the cluster was written to since.
  if (looked) emit({ who: 'cluster', what: `${key} takes the lease of its step` }, onCluster(world, key, leased));
  else if (next?.kind === 'act')
    emit(
      { who: 'cluster', what: `${key} looks, and decides that ${next.target} ${next.leaves ? 'leaves' : 'is rolled'}` },
      onCluster(world, key, (one) => ({ ...one, looked: true })),
    );
}

function leased({ looked: _, ...cluster }: ModelCluster): ModelCluster {
  return { ...cluster, lease: { by: 'own' } };
}

export function free(world: NodesWorld, key: string): NodesWorld {
  return onCluster(world, key, ({ lease: _, looked: __, ...one }) => one);
}

/** It reads again whether all others are well, and a roll goes by eviction. */
function acts(world: NodesWorld, cluster: ModelCluster, emit: Emit): void {
  const { key } = cluster;
  const next = nextOf(world, cluster);
  const released = free(world, key);
  if (next?.kind !== 'act') {
    emit({ who: 'cluster', what: `${key} finds that the world has moved, and ends its step` }, released);
    return;
  }
  const { target, leaves } = next;
  const after = leaves
    ? onCluster(released, key, (one) => ({ ...one, members: one.members.filter(({ name }) => name !== target) }))
    : onMember(released, target, (one) => ({ ...one, pod: 'leaving' }));
  emit({ who: 'cluster', what: `${key} ${leaves ? 'removes' : 'evicts'} ${target}`, rolls: target }, settled(after));
}

/** Its disruption budget, as we make it: a quorum stays. */
export function mayGo(world: NodesWorld, cluster: ModelCluster, name: string): boolean {
  const left = serving(world, cluster).filter((member) => member.name !== name).length;
  const member = cluster.members.find((one) => one.name === name);
  return member === undefined || !serves(world, member) || cluster.members.length === 1 || left >= quorum(cluster);
}
