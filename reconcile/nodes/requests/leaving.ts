import { fencedEtcd, withEtcd } from '../../cluster/etcd-way.ts';
import { KubeError, resources } from '../../interfaces/kube.ts';
import type { LeavingPod } from '../decision.ts';
import type { LeaderMove } from '../etcd.ts';
import { giveBack, take } from '../hold.ts';
import { defineNodeRequest, writtenSince } from './request.ts';

/** Takes the lease of a cluster's own steps, from the version that was observed: any later step wins over this one. */
export const holdCluster = defineNodeRequest<'holdCluster', { readonly key: string }, undefined>('holdCluster', {
  words: ({ key }) => `holds EtcdCluster ${key}`,
  writes: ({ key }) => ({ object: key, fence: 'version' }),
  live: async ({ key }, { kube, observed, held, holder, signal }) => {
    const cluster = observed.clusters.get(key);
    if (cluster) held.set(key, await take(cluster, { kube, holder, signal }));
    return undefined;
  },
  model: (state, { key }, host) => {
    if (!host.isCurrent(key)) throw writtenSince(key);
    return { state: host.held(state, key), answer: undefined };
  },
});

/** What this invocation can't give back any more is over by its deadline. */
export const letGoCluster = defineNodeRequest<'letGoCluster', { readonly key: string }, undefined>('letGoCluster', {
  words: ({ key }) => `lets go of EtcdCluster ${key}`,
  writes: ({ key }) => ({ object: key, fence: 'none' }),
  live: async ({ key }, { kube, held, holder, signal }) => {
    const cluster = held.get(key);
    if (cluster) await giveBack(cluster, { kube, holder, signal });
    return undefined;
  },
  model: (state, { key }, host) => ({ state: host.letGo(state, key), answer: undefined }),
});

/** Answers whether a disruption budget keeps it for now. A pod that has changed since it was seen stays. */
export const evictPod = defineNodeRequest<'evictPod', { readonly pod: LeavingPod }, boolean>('evictPod', {
  words: ({ pod }) => `evicts ${pod.name}`,
  writes: ({ pod }) => ({ object: `pod/${pod.uid}`, fence: 'none' }),
  live: async ({ pod }, { kube, signal }) => {
    const { namespace, name, uid, resourceVersion, byDeletion = false } = pod;
    try {
      const preconditions = { uid, resourceVersion };
      if (byDeletion) await kube.delete(resources.pods, namespace, name, { preconditions, signal });
      else await kube.evict(namespace, name, { preconditions, signal });
      return false;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      // The API server says 429 as well when it has too much to do (policy/v1: DisruptionBudgetCause).
      if (error.causes.includes('DisruptionBudget')) return true;
      if (error.class === 'precondition' || error.status === 404) return false;
      throw error;
    }
  },
  model: (state, { pod }, host) => {
    const { state: after, kept } = host.evicted(state, pod);
    return { state: after, answer: kept };
  },
});

export const moveLeader = defineNodeRequest<'moveLeader', LeaderMove, undefined>('moveLeader', {
  words: ({ cluster, name }) => `moves the leader of ${cluster} to ${name}`,
  writes: ({ cluster }) => ({ object: `etcd/${cluster}`, fence: 'none' }),
  live: async ({ cluster, clusterId, memberId }, { observed, signal, deadline }) => {
    const way = observed.ways.get(cluster);
    if (!way) return undefined;
    await withEtcd(fencedEtcd(way, signal, deadline), (etcd, endpoints) =>
      etcd.moveLeader(endpoints, memberId, { clusterId, signal }),
    );
    return undefined;
  },
  model: (state, move, host) => ({ state: host.led(state, move), answer: undefined }),
});
