import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { Pod } from '../../../../manifests/kube-types.ts';
import { podName } from '../../../../manifests/render/names.ts';
import { resources } from '../../../interfaces/kube.ts';
import { conflict, notAllowedYet } from '../../../requests/refusals.ts';
import { isReady, revisionOf } from '../../observe/pods.ts';
import { podView } from '../../observe/slots.ts';
import { listOursAnd, preconditionsOf } from '../actions/context.ts';
import type { Host, PodSeen } from './host.ts';
import { getOne } from './live.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** Members' pods, by the names of their members. */

export interface PodRead extends PodSeen {
  readonly readAt: ReadAt;
}

export const readPod = defineRequest('readPod', {
  words: ({ name }: { readonly name: string }) => `reads the pod of ${name}`,
  live: async ({ name }, live): Promise<PodRead | undefined> => {
    const found = await getOne<Pod>(live, resources.pods, podName(name));
    if (!found) return undefined;
    const { version, container } = podView(found, undefined);
    return {
      uid: found.metadata.uid ?? '',
      leaving: found.metadata.deletionTimestamp !== undefined,
      ready: isReady(found),
      revision: revisionOf(found) ?? '',
      ...(version !== undefined && { version }),
      everStarted: container.everStarted,
      readAt: live.keep('pod', name, found),
    };
  },
  model: (state, { name }, host) => {
    const found = host.pod(state, name);
    return { state, answer: found && { ...found, readAt: { object: 'pod' as const, name, at: 'current' } } };
  },
});

/** Which other members' pods are not as they should be, by name. */
export interface OtherPods {
  readonly notReady: readonly string[];
  readonly leaving: readonly string[];
}

/**
 * The pods of all members but one. What is left of a member that was removed, and has no peer any more, does not count.
 */
export const readOtherPods = defineRequest('readOtherPods', {
  words: ({ name }: { readonly name: string }) => `sees whether all but ${name} are Ready`,
  live: async ({ name }, live): Promise<OtherPods> => {
    const members = (live.cluster.status?.members ?? []).map((member) => member.name);
    const [pods, peers] = await Promise.all([
      listOursAnd<Pod>(live, resources.pods, [name, ...members].map(podName)),
      listOursAnd<EtcdPeer>(live, resources.peers, members),
    ]);
    const others = peers.flatMap(({ metadata }) => {
      const pod = pods.find((one) => one.metadata.name === podName(metadata.name));
      return pod && metadata.name !== name ? [{ name: metadata.name, pod }] : [];
    });
    return {
      notReady: others.flatMap((other) => (isReady(other.pod) ? [] : [other.name])),
      leaving: others.flatMap((other) => (other.pod.metadata.deletionTimestamp === undefined ? [] : [other.name])),
    };
  },
  model: (state, { name }, host) => {
    const others = host.names(state).flatMap((other) => {
      const pod = host.get(state, other, 'peer') && host.pod(state, other);
      return pod && other !== name ? [{ name: other, pod }] : [];
    });
    return {
      state,
      answer: {
        notReady: others.flatMap((other) => (other.pod.ready ? [] : [other.name])),
        leaving: others.flatMap((other) => (other.pod.leaving ? [other.name] : [])),
      },
    };
  },
});

interface OnePod {
  readonly uid: string;
  readonly readAt: ReadAt;
}

/** Asks the disruption budget. @throws {KubeError} `TooManyRequests` when it does not allow that. */
export const evictPod = defineRequest('evictPod', {
  words: ({ readAt: { name } }: OnePod) => `evicts the pod of ${name}`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'pod', name }),
  live: async ({ readAt }, { kube, kept, cluster, signal }): Promise<void> => {
    const preconditions = preconditionsOf(kept<Pod>(readAt));
    await kube.evict(cluster.metadata.namespace ?? '', podName(readAt.name), { preconditions, signal });
  },
  model: (state, pod, host) => {
    const { name } = pod.readAt;
    const left = without(state, pod, host);
    const { minAvailable = 0, state: budget } = host.shared(state, 'disruptionBudget');
    const others = host.names(state).filter((one) => {
      const other = host.pod(state, one);
      return one !== name && other?.ready && !other.leaving;
    });
    const isThere = host.pod(state, name) !== undefined;
    if (isThere && budget !== 'missing' && others.length < minAvailable)
      throw notAllowedYet('the disruption budget does not allow it');
    return { state: left, answer: undefined };
  },
});

export const deletePod = defineRequest('deletePod', {
  words: ({ readAt: { name } }: OnePod) => `deletes the pod of ${name}`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'pod', name }),
  live: async ({ readAt }, { kube, kept, cluster, signal }): Promise<void> => {
    const preconditions = preconditionsOf(kept<Pod>(readAt));
    await kube.delete(resources.pods, cluster.metadata.namespace, podName(readAt.name), { preconditions, signal });
  },
  model: (state, pod, host) => ({ state: without(state, pod, host), answer: undefined }),
});

function without<S>(state: S, { uid, readAt }: OnePod, host: Host<S>): S {
  const { name } = readAt;
  const found = host.pod(state, name);
  if (!found) return state;
  if (found.uid !== uid || !host.isCurrent(readAt)) throw conflict(`the pod of ${name} has changed since it was read`);
  return host.remove(state, name, 'pod');
}
