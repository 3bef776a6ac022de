import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { podName } from '../../../manifests/build/names.ts';
import type { Pod, StatefulSet } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { isReady, revisionOf } from '../pods.ts';
import { type ActContext, listOursAnd, livePeer, preconditionsOf } from './context.ts';
import { clearToRun } from './going-back.ts';

/**
 * Lets the pod of one member go, so that its StatefulSet makes it anew from its template.
 *
 * Guards I1: read again just before, every other pod of the cluster is Ready, and this one is still the outdated pod that
 * was looked at; one that is cut off waits for nobody but who is on his way out. What is left of a member that was removed, like a pod
 * that its dead node never ends, counts for nobody. Guards I6: onto a lower minor than it runs only where that may go back.
 */
export async function restartMember(
  { pod: { name, uid }, by, cutOff, successor }: ActionOf<'restart-member'>,
  context: ActContext,
): Promise<void> {
  const { kube, cluster, signal } = context;
  const { namespace = '' } = cluster.metadata;
  const members = (cluster.status?.members ?? []).map((member) => member.name);
  const [peer, set, pods, peers] = await Promise.all([
    livePeer(context, name),
    kube.get<StatefulSet>(resources.statefulSets, namespace, name, { signal }),
    listOursAnd<Pod>(context, resources.pods, [name, ...members].map(podName)),
    listOursAnd<EtcdPeer>(context, resources.peers, members),
  ]);
  const pod = pods.find(({ metadata }) => metadata.name === podName(name));
  if (!pod || pod.metadata.uid !== uid || pod.metadata.deletionTimestamp !== undefined) return;
  if (!set || revisionOf(pod) === set.status?.updateRevision) return;
  await clearToRun(pod, peer, peer.spec.version, context);
  const ours = new Set(peers.map(({ metadata }) => podName(metadata.name)));
  const others = pods.filter((other) => other !== pod && ours.has(other.metadata.name));
  const down = others.find((other) => (!isReady(other) && !cutOff) || other.metadata.deletionTimestamp !== undefined);
  if (down) throw moved(`${down.metadata.name} is not Ready any more, so ${name} stays`);

  if (successor) await handOverLeadership(name, successor, context);
  const preconditions = preconditionsOf(pod);
  if (by === 'eviction') await kube.evict(namespace, podName(name), { preconditions, signal });
  else await kube.delete(resources.pods, namespace, podName(name), { preconditions, signal });
}

/**
 * Before the leader goes: without that, a write that is under way waits for an election, and the client's own deadline may be
 * shorter (a gap of 2 s instead of 0.05 s was measured). The member is asked itself, now: since it was looked at, leadership
 * may have moved.
 */
async function handOverLeadership(
  name: string,
  { clusterId, memberId }: NonNullable<ActionOf<'restart-member'>['successor']>,
  { etcd: way, signal }: ActContext,
): Promise<void> {
  const endpoint = way.endpoints.get(name);
  if (endpoint === undefined) return;
  await withEtcd(way, async (etcd, endpoints) => {
    const status = await etcd.status(endpoint, { signal });
    if (status.leader !== status.memberId) return;
    await etcd.moveLeader(endpoints, memberId, { signal, clusterId });
  });
}
