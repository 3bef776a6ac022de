import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { podName } from '../../../manifests/build/names.ts';
import type { Pod, StatefulSet } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { settledList, withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { type ActContext, preconditionsOf, volumeAsSeen } from './context.ts';

/**
 * Deletes the volume of a member that was given up and replaced, when it has been kept for as long as the spec says.
 *
 * Guards I4: its member is absent from a list that was read behind a barrier just now, of the cluster that it recorded; it says itself that
 * it was released after a replacement; nothing of its member is left that may have it open. The resourceVersion closes the gap between
 * that look and the deletion.
 */
export async function deleteReplacedVolume(
  { volume, memberId, clusterId }: ActionOf<'delete-replaced-volume'>,
  context: ActContext,
): Promise<void> {
  const { kube, cluster, etcd: way, signal } = context;
  const { namespace } = cluster.metadata;
  const { name } = volume;
  await withEtcd(way, async (etcd, endpoints) => {
    const { members } = await settledList(etcd, endpoints, { clusterId, signal });
    if (members.some(({ id }) => id === memberId)) throw moved(`${name} (${memberId}) is a member still`);
  });
  const found = await volumeAsSeen(context, volume);
  if (!found || found.claim.metadata.deletionTimestamp !== undefined) return;
  const { claim, record } = found;
  const isIt = record.state === 'released' && record.memberId === memberId && record.clusterId === clusterId;
  if (!isIt || record.replacedAt === undefined || record.evidence) {
    throw moved(`volume ${name} is to be kept since it was looked at`);
  }
  const users = await Promise.all([
    kube.get<EtcdPeer>(resources.peers, namespace, name, { signal }),
    kube.get<StatefulSet>(resources.statefulSets, namespace, name, { signal }),
    kube.get<Pod>(resources.pods, namespace, podName(name), { signal }),
  ]);
  if (users.some((user) => user !== undefined)) throw moved(`something of ${name} is there that may use its volume`);
  await kube.delete(resources.volumeClaims, namespace, name, { preconditions: preconditionsOf(claim), signal });
}
