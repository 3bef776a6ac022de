import { annotations } from '../../../../../manifests/render/names.ts';
import type { ListedMember } from '../../../../interfaces/etcd.ts';
import type { ActionOf } from '../../../know/action.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { needOfReplacement } from '../../../know/health/down.ts';
import { ailmentOf, hearsLeader, memberOf, urlOf } from '../../../know/health/health.ts';
import { recordOf } from '../../../know/life.ts';
import { isQuorumWithout, unknownAmong } from '../../../know/membership/voters.ts';
import type { Slot } from '../../../know/observation.ts';
import { gaveUpBy } from '../../../know/recovery/outvoted.ts';
import { entryFor } from '../../../know/set-aside.ts';
import type { Situation } from '../../../know/situation.ts';
import { isKept, removalOf } from '../../removal.ts';

/**
 * A removal that was begun is finished, never undone: etcd may apply it long after the invocation that sent it has
 * died. Then the member's objects are deleted, by the person's retention policy.
 *
 * Guards I2 and I4: the list was read behind a barrier, because a volume says `releasing`.
 */
export function finishRemoval(situation: Situation): Decision | undefined {
  const { slots, membership, refused } = situation;
  if (membership.kind === 'unknown') return undefined;
  const decisions = slots.flatMap((slot) => finish(slot, situation) ?? []);
  // A removal that was refused for good does not hold up another one.
  return decisions.find((one) => one.kind !== 'act' || !entryFor(one.action, refused)) ?? decisions[0];
}

function finish(slot: Slot, situation: Situation): Decision | undefined {
  const { membership, cluster, life } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  const record = recordOf(slot);
  if (!slot.volume || !record) return withoutVolume(slot, membership);
  const { name, peer, volume } = slot;
  const keep = isKept(record, cluster);
  switch (record.state) {
    case 'releasing': {
      const memberId = record.memberId ?? memberOf(slot, membership.members)?.id;
      if (memberId === undefined) return withoutId(slot);
      const { clusterId } = membership;
      const member = membership.members.find(({ id }) => id === memberId);
      if (!member) return retire(slot, clusterId, { name, uid: volume.uid, memberId, state: 'released', keep });
      const unsafe = unsafeWithout(slot, memberId, situation);
      if (unsafe) return unsafe;
      return act(
        removalOf(slot, member, clusterId, situation),
        'RemovingMember',
        `finishing the removal of ${name} from the member list`,
      );
    }
    case 'released':
    case 'superseded': {
      if (!peer?.current || peer.leaving) return undefined;
      // A member that was about to join when a recovery outvoted the others never had an ID.
      if (record.memberId === undefined && record.state === 'superseded')
        return retire(slot, membership.clusterId, undefined, urlOf(slot));
      if (record.memberId === undefined) return withoutId(slot);
      const { memberId, state, clusterId } = record;
      const gaveUp = gaveUpBy(situation.slots).find((one) => one === clusterId);
      const kept = { name, uid: volume.uid, memberId, state, keep: keep || state === 'superseded' };
      return retire(slot, membership.clusterId, { ...kept, ...(gaveUp !== undefined && { gaveUp }) });
    }
    default:
      return undefined;
  }
}

/**
 * Another member went down since the removal was begun, and without this member too the rest would be no quorum. The
 * removal is not undone, because it may have been sent: it waits for the other member.
 */
function unsafeWithout({ name }: Slot, memberId: string, situation: Situation): Decision | undefined {
  const { membership, slots } = situation;
  if (membership.kind === 'unknown') return undefined;
  const others = membership.members.filter(({ id, isLearner }) => id !== memberId && !isLearner);
  if (others.length === 0) {
    return refuse(
      'RemovalUnsafe',
      `volume ${name} says that its member is being removed, and it is the only voter`,
      `set annotation ${annotations.volumeState} of PersistentVolumeClaim ${name} to sealed`,
    );
  }
  if (isQuorumWithout(memberId, situation)) return undefined;
  const places = slots.filter((slot) => memberOf(slot, others));
  const down = places.find((slot) => !hearsLeader(slot));
  if (!down) return besideUnknown(unknownAmong(others, situation));
  const member = memberOf(down, others);
  const ailment = ailmentOf(down, situation);
  const more = places.filter((slot) => slot !== down && !hearsLeader(slot)).map(({ name: other }) => other);
  const also = more.length === 0 ? '' : `; nor do these answer: ${more.join(', ')}`;
  const why = `${ailment?.message ?? `${down.name} does not answer`}${also}`;
  if (needOfReplacement(down, situation) === undefined && ailment?.passing !== false) {
    return wait(
      'RemovalUnsafe',
      `a removal that was begun waits for another member: ${why}`,
      { on: 'change', of: 'pods' },
      { on: 'time', afterSeconds: 5 },
    );
  }
  return refuse(
    'RemovalUnsafe',
    `a removal that was begun cannot be finished: the remaining members would not be a quorum, because ${why}`,
    `bring ${down.name} back; or, if that is impossible, remove it: etcdctl member remove ${member?.id}`,
  );
}

/** The other member cannot return by itself: only its entry on the member list is left. */
function besideUnknown(other: ListedMember | undefined): Decision | undefined {
  if (!other) return undefined;
  return refuse(
    'RemovalUnsafe',
    `a removal that was begun cannot be finished: the remaining members would not be a quorum, because ${other.name || 'an unstarted member'} (${other.id}) is on the list and has no EtcdPeer`,
    `if nothing needs it: etcdctl member remove ${other.id}`,
  );
}

/** The member lost its volume before its removal, or an outdated invocation made its peer after its removal. */
function withoutVolume(
  slot: Slot,
  membership: Extract<Situation['membership'], { kind: 'known' }>,
): Decision | undefined {
  const { peer, volume } = slot;
  const url = urlOf(slot);
  if (!peer?.current || peer.leaving || volume || peer.replacingVolume !== undefined || url === undefined)
    return undefined;
  if (membership.members.some(({ peerURLs }) => peerURLs.includes(url))) return undefined;
  return retire(slot, membership.clusterId, undefined, url);
}

const whileReplaced = 'until another member votes in its place, and for spec.volumeRetention.whenReplaced after that';

function retire(slot: Slot, clusterId: string, volume: ActionOf<'retire-member'>['volume'], url?: string): Decision {
  const { name, peer } = slot;
  const kept =
    recordOf(slot)?.replacedAt === undefined ? ', its volume is kept' : `, its volume is kept ${whileReplaced}`;
  const leaves = volume === undefined ? '' : volume.keep ? kept : ', and its volume';
  return act(
    {
      kind: 'retire-member',
      name,
      clusterId,
      ...(peer?.current && !peer.leaving && { peer: { name, uid: peer.uid } }),
      ...(volume && { volume }),
      ...(url !== undefined && { url }),
    },
    'RetiringMember',
    `${name} is no longer a member: its pod is deleted${leaves}`,
  );
}

function withoutId({ name }: Slot): Decision {
  return refuse(
    'VolumeRecordUnreadable',
    `volume ${name} says that its member is being removed, and does not say which member ID`,
    `put the member's ID (etcdctl member list) back into annotation etcd.ratchet.dev/member-id of PersistentVolumeClaim ${name}`,
  );
}
