import { isDeepStrictEqual } from 'node:util';
import { hashOf } from '../../../../manifests/build/inputs-hash.ts';
import { unstarted } from '../../../../manifests/build/volume-record.ts';
import type { ListedMember } from '../../../etcd.ts';
import { recordOf } from '../../life.ts';
import type { Observation } from '../../observation.ts';
import { type Effect, type EffectsOf, oneByOne, onRecord, onSlot, slotOf } from '../effect.ts';
import { deleteVolume, removePeer } from './deletion.ts';

/** The member list, and what is written on volumes before and after it changes. */

export const addLearner: EffectsOf<'add-learner'> = ({ name, url, clusterId }, observation) => {
  const { membership } = observation;
  if (membership.kind === 'unknown') return [];
  const others = membership.members.filter(({ peerURLs }) => !peerURLs.includes(url));
  const initialCluster = [
    ...others.map((member) => ({ name: member.name, url: member.peerURLs[0] ?? '' })),
    { name, url },
  ];
  const isTold = isDeepStrictEqual(recordOf(slotOf(observation, name) ?? {})?.initialCluster, initialCluster);
  return oneByOne(
    isTold
      ? undefined
      : onRecord(name, (record) => (record.state === 'joining' ? { ...record, initialCluster, clusterId } : record)),
    others.length < membership.members.length ? undefined : addToList(url),
  );
};

/** An ID is made of the address and the moment. */
function addToList(url: string): Effect {
  return onList((members, { at }) => {
    if (members.some(({ peerURLs }) => peerURLs.includes(url))) return members;
    const id = hashOf({ url, at: at.getTime(), members: members.map((member) => member.id) }).slice(0, 16);
    const learner = { id: id.replace(/^0+/, '1'), name: '', peerURLs: [url], clientURLs: [], isLearner: true };
    return [...members, learner];
  });
}

export const promoteLearner: EffectsOf<'promote-learner'> = ({ name, memberId }) =>
  oneByOne((observation) => {
    const promoted = onList((members) =>
      members.some(({ id, isLearner }) => id === memberId && isLearner)
        ? members.map((member) => (member.id === memberId ? { ...member, isLearner: false } : member))
        : members,
    )(observation);
    return promoted === observation ? observation : votes(name)(promoted);
  });

/** Its own answer says so as well. */
function votes(name: string): Effect {
  return onSlot(name, (slot) =>
    slot.endpoint.kind === 'known'
      ? { ...slot, endpoint: { kind: 'known', status: { ...slot.endpoint.status, isLearner: false } } }
      : slot,
  );
}

export const removeMember: EffectsOf<'remove-member'> = (
  { name, memberId, clusterId, volume, successor, corrupt, keeps, replacedAt },
  observation,
) => {
  const isMarked = recordOf(slotOf(observation, name) ?? {})?.state === 'releasing';
  const leadsNow = observation.slots.some(
    ({ endpoint }) => endpoint.kind === 'known' && endpoint.status.leader === memberId,
  );
  return oneByOne(
    volume && !isMarked
      ? onSlot(name, (slot) => {
          const record = recordOf(slot);
          if (!slot.volume || !record || slot.volume.uid !== volume.uid) return slot;
          const evidence = {
            ...((corrupt || keeps) && { evidence: true as const }),
            ...(replacedAt !== undefined && { replacedAt }),
          };
          const marked = { ...unstarted(record), memberId, clusterId, state: 'releasing' as const, ...evidence };
          return { ...slot, volume: { ...slot.volume, record: { kind: 'valid', record: marked } } };
        })
      : undefined,
    leadsNow && successor ? moveLeader(successor.memberId) : undefined,
    (seen) =>
      withoutHash(
        memberId,
        onList((members) =>
          members.some(({ id }) => id === memberId) ? members.filter(({ id }) => id !== memberId) : members,
        )(seen),
      ),
  );
};

/** Who has no vote is not asked what it holds. */
function withoutHash(gone: string, observation: Observation): Observation {
  const { hashes } = observation;
  if (!hashes?.answers.some(({ memberId }) => memberId === gone)) return observation;
  return { ...observation, hashes: { ...hashes, answers: hashes.answers.filter(({ memberId }) => memberId !== gone) } };
}

/** Everybody who answers knows it. */
export function moveLeader(memberId: string): Effect {
  return (observation) => {
    const isVoter = ({ id, isLearner }: ListedMember) => id === memberId && !isLearner;
    if (observation.membership.kind === 'unknown' || !observation.membership.members.some(isVoter)) return observation;
    const slots = observation.slots.map((slot) =>
      slot.endpoint.kind === 'known' && slot.endpoint.status.leader !== memberId
        ? { ...slot, endpoint: { kind: 'known' as const, status: { ...slot.endpoint.status, leader: memberId } } }
        : slot,
    );
    return { ...observation, slots };
  };
}

export const retireMember: EffectsOf<'retire-member'> = ({ name, volume, peer }, observation) => {
  const slot = slotOf(observation, name);
  const found = slot?.volume?.uid === volume?.uid ? slot?.volume : undefined;
  const isTold = recordOf(slot ?? {})?.state === volume?.state;
  return oneByOne(
    volume && found && !isTold ? onRecord(name, (record) => ({ ...record, state: volume.state })) : undefined,
    volume && found && !volume.keep && !found.leaving ? deleteVolume(name, volume.uid) : undefined,
    peer && removePeer(peer),
  );
};

function onList(
  change: (members: readonly ListedMember[], observation: Observation) => readonly ListedMember[],
): Effect {
  return (observation) => {
    const { membership } = observation;
    if (membership.kind === 'unknown') return observation;
    const members = change(membership.members, observation);
    return members === membership.members ? observation : { ...observation, membership: { ...membership, members } };
  };
}

/** One that has changed since it was looked at is another one to the API server, too. */
export const deleteReplacedVolume: EffectsOf<'delete-replaced-volume'> = ({ volume }) =>
  oneByOne(deleteVolume(volume.name, volume.uid));
