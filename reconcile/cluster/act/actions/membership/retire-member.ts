import type { Program } from '../../../../requests/program.ts';
import type { ActionOf } from '../../../know/action.ts';
import { moved } from '../../../know/outcome.ts';
import { listMembers } from '../../requests/membership.ts';
import { deletePeer } from '../../requests/removing.ts';
import { deleteVolume, type VolumeRead, volumeAsSeen, writeRecord } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';

/**
 * What a removed member had goes: its volume says that it is no member's any more, and is deleted unless it is to be
 * kept; then its peer goes, and with it StatefulSet and pod. The ConfigMap goes with the PVC, which Kubernetes keeps
 * for as long as its pod is there.
 *
 * The peer goes last: a released volume without one is to be kept, whatever the policy says by then.
 *
 * Guards I4: the member is absent from a list that was read behind a barrier just now, of the cluster that its volume
 * recorded, or that took the place of that one.
 */
export const retireMember = defineAction('retire-member', {
  target: ({ name }) => name,
  *run({ name, clusterId, peer, volume, url = '' }) {
    const listed = yield* listMembers({ clusterId });
    const member = listed.find(({ id, peerURLs }) => id === volume?.memberId || peerURLs.includes(url));
    if (member) throw moved(`${name} (${member.id}) is a member still`);
    const released = volume && (yield* release(name, volume, clusterId));
    if (released && !volume.keep && !released.leaving)
      yield* deleteVolume({ uid: released.uid, readAt: released.readAt });
    if (peer) yield* deletePeer(peer);
  },
});

/** @returns the volume as it is then; `undefined` when it has gone. */
function* release(
  name: string,
  volume: NonNullable<ActionOf<'retire-member'>['volume']>,
  clusterId: string,
): Program<VolumeRead | undefined> {
  const { memberId, state, gaveUp = clusterId } = volume;
  const found = yield* volumeAsSeen(volume);
  if (!found) return undefined;
  const { record, readAt } = found;
  if (record.memberId !== memberId || (record.clusterId !== undefined && record.clusterId !== gaveUp))
    throw moved(`volume ${name} is that of member ${record.memberId ?? 'unknown'}, and not of ${memberId}`);
  if (record.state === state) return found;
  return { ...found, readAt: yield* writeRecord({ readAt, record: { ...record, state } }) };
}
