import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { settledList, withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { type ActContext, deleteWithDependents, preconditionsOf, volumeAsSeen } from './context.ts';
import { writeRecord } from './volume-state.ts';

/**
 * What a removed member had goes: its volume says that it is no member's any more, and is deleted unless it is to be kept; then
 * its peer goes, and with it StatefulSet and pod. The ConfigMap goes with the claim, which Kubernetes keeps for as long as its pod is there.
 *
 * The peer goes last: a released volume without one is to be kept, whatever the policy says by then.
 *
 * Guards I4: the member is absent from a list that was read behind a barrier just now, of the cluster that its volume recorded.
 */
export async function retireMember(action: ActionOf<'retire-member'>, context: ActContext): Promise<void> {
  const { name, clusterId, peer, volume } = action;
  const { kube, cluster, etcd: way, signal } = context;
  const { namespace } = cluster.metadata;
  await withEtcd(way, async (etcd, endpoints) => {
    const list = await settledList(etcd, endpoints, { clusterId, signal });
    const member = list.members.find(
      ({ id, peerURLs }) => id === volume?.memberId || peerURLs.includes(action.url ?? ''),
    );
    if (member) throw moved(`${name} (${member.id}) is a member still`);
  });
  const released = volume && (await release(name, volume, clusterId, context));
  if (released && !volume.keep && released.metadata.deletionTimestamp === undefined) {
    await kube.delete(resources.volumeClaims, namespace, name, { preconditions: preconditionsOf(released), signal });
  }
  if (peer) await deleteWithDependents(context, resources.peers, [peer]);
}

/** @returns the claim as it is then; `undefined` when it has gone. */
async function release(
  name: string,
  volume: NonNullable<ActionOf<'retire-member'>['volume']>,
  clusterId: string,
  context: ActContext,
): Promise<PersistentVolumeClaim | undefined> {
  const { memberId, state } = volume;
  const found = await volumeAsSeen(context, volume);
  if (!found) return undefined;
  const { claim, record } = found;
  if (record.memberId !== memberId || (record.clusterId !== undefined && record.clusterId !== clusterId))
    throw moved(`volume ${name} is that of member ${record.memberId ?? 'unknown'}, and not of ${memberId}`);
  return record.state === state ? claim : writeRecord(claim, { ...record, state }, context);
}
