import { annotations } from '../../../manifests/build/names.ts';
import type { VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { ListedMember } from '../../etcd.ts';
import type { ActionOf } from '../actions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import { needOfReplacement } from '../down.ts';
import { ailmentOf, memberOf, urlOf } from '../health.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { quorumOf } from '../quorum.ts';
import { removalOf } from '../removal.ts';
import { entryFor } from '../set-aside.ts';
import { unknownAmong } from '../voters.ts';

/**
 * A removal that was begun is finished, never undone: etcd may decide it long after whoever asked has died. Then what the member
 * had goes, by the policy that the person chose.
 *
 * Guards I2 and I4: the list was read behind a barrier, because a volume says `releasing`.
 */
export function finishRemoval(situation: Situation): Decision | undefined {
  const { slots, membership, refused } = situation;
  if (membership.kind === 'unknown') return undefined;
  const decisions = slots.flatMap((slot) => finish(slot, situation) ?? []);
  // One that was refused for good keeps no other one from leaving.
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
      // One that was about to join when the others were outvoted never had one.
      if (record.memberId === undefined && record.state === 'superseded')
        return retire(slot, membership.clusterId, undefined, urlOf(slot));
      if (record.memberId === undefined) return withoutId(slot);
      const { memberId, state } = record;
      const kept = { name, uid: volume.uid, memberId, state, keep: keep || state === 'superseded' };
      return retire(slot, membership.clusterId, kept);
    }
    default:
      return undefined;
  }
}

/** `whenScaled` is for members that leave because the spec became smaller; what was given up is kept at first. */
function isKept({ evidence, replacedAt }: VolumeRecord, { spec }: Situation['cluster']): boolean {
  return spec.volumeRetention?.whenScaled === 'Retain' || evidence === true || replacedAt !== undefined;
}

/**
 * Somebody else went down since it was begun, and without this one too nobody would be a quorum. It is not undone, because it may
 * have been sent: it waits for the other one.
 */
function unsafeWithout({ name }: Slot, memberId: string, situation: Situation): Decision | undefined {
  const { membership, slots } = situation;
  if (membership.kind === 'unknown') return undefined;
  const others = membership.members.filter(({ id, isLearner }) => id !== memberId && !isLearner);
  if (others.length === 0) {
    return refuse(
      'RemovalUnsafe',
      `volume ${name} says that its member is to leave, and nobody else is left`,
      `set annotation ${annotations.volumeState} of PersistentVolumeClaim ${name} to sealed`,
    );
  }
  const places = slots.filter((slot) => memberOf(slot, others));
  const silent = places.filter(({ endpoint }) => endpoint.kind === 'unknown' || endpoint.status.leader === '0');
  const answering = places.length - silent.length;
  const [down] = silent;
  if (answering >= quorumOf(others.length)) return undefined;
  if (!down) return besideUnknown(unknownAmong(others, slots));
  const member = memberOf(down, others);
  const ailment = ailmentOf(down, situation);
  const why = ailment?.message ?? `${down.name} does not answer`;
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
    `a removal that was begun can not be finished, or nobody would be a quorum: ${why}`,
    `bring ${down.name} back; or, if that can not be, remove it: etcdctl member remove ${member?.id}`,
  );
}

/** The other one can't come back by itself: nothing of it is left but its place on the list. */
function besideUnknown(other: ListedMember | undefined): Decision | undefined {
  if (!other) return undefined;
  return refuse(
    'RemovalUnsafe',
    `a removal that was begun can not be finished, or nobody would be a quorum: no peer stands for ${other.name || 'an unstarted member'} (${other.id})`,
    `if nobody needs it: etcdctl member remove ${other.id}`,
  );
}

/** It lost its volume before it was removed; or an invocation that slept has made its peer when everything else had gone. */
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
    `${name} is no member any more: its pod goes${leaves}`,
  );
}

function withoutId({ name }: Slot): Decision {
  return refuse(
    'VolumeRecordUnreadable',
    `volume ${name} says that its member was to leave, and not which one that was`,
    `put the member's ID (etcdctl member list) back into annotation etcd.ratchet.dev/member-id of PersistentVolumeClaim ${name}`,
  );
}
