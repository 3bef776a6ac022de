import { isDeepStrictEqual } from 'node:util';
import type { EtcdPeer, EtcdPeerStatus } from '../../../manifests/api/etcd-peer.ts';
import { isReason, type Kube, resources } from '../../interfaces/kube.ts';
import { conditionsFrom } from '../../objects/conditions.ts';
import { ailmentOf, memberOf } from '../know/health/health.ts';
import { recordOf } from '../know/life.ts';
import type { Slot } from '../know/observation.ts';
import type { Situation } from '../know/situation.ts';

/** Writes the status of every peer whose status changed: the readable row for people. @throws {KubeError} */
export async function reportPeers(
  kube: Kube,
  situation: Situation,
  peers: readonly EtcdPeer[],
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    peers.map(async (peer) => {
      const status = peerStatusFor(peer, situation);
      if (!status || isDeepStrictEqual(peer.status, status)) return;
      try {
        await kube.updateStatus<EtcdPeer>(resources.peers, { ...peer, status }, { signal });
      } catch (error) {
        // The step itself has just changed or removed this peer; the next step reports it as it is then.
        if (!isReason(error, 'Conflict') && !isReason(error, 'NotFound')) throw error;
      }
    }),
  );
}

function peerStatusFor(peer: EtcdPeer, situation: Situation): EtcdPeerStatus | undefined {
  const slot = situation.slots.find(({ name, peer: view }) => name === peer.metadata.name && view?.current);
  if (!slot) return undefined;
  const { membership, at } = situation;
  const member = membership.kind === 'known' ? memberOf(slot, membership.members) : undefined;
  const record = recordOf(slot);
  const ailment = ailmentOf(slot, situation);
  const memberID = member?.id ?? record?.memberId ?? peer.status?.memberID;
  const role = member ? (member.isLearner ? ('Learner' as const) : ('Voter' as const)) : peer.status?.role;
  const generation = peer.metadata.generation ?? 0;
  const set = statefulSetNoted(slot) ?? peer.status?.statefulSet;
  return {
    observedGeneration: generation,
    ...(memberID !== undefined && { memberID }),
    ...(role !== undefined && { role }),
    ...(slot.endpoint.kind === 'known' && { version: slot.endpoint.status.version }),
    ready: ailment === undefined,
    ...(record && { volumeState: record.state }),
    ...(set && { statefulSet: set }),
    conditions: conditionsFrom(
      [
        ailment
          ? { type: 'Ready', status: 'False', reason: ailment.reason, message: ailment.message }
          : { type: 'Ready', status: 'True', reason: 'Healthy', message: `${slot.name} is a healthy member` },
      ],
      peer.status?.conditions,
      { generation, at },
    ),
  };
}

/** What was compared needs no dry run at the next step, until its generation is another one. */
function statefulSetNoted({ statefulSet }: Slot): EtcdPeerStatus['statefulSet'] {
  if (statefulSet?.oursAt === undefined) return undefined;
  return { uid: statefulSet.uid, generation: statefulSet.oursAt };
}
