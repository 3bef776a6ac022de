import { peerUrl, schemeOf } from '../../../../../manifests/render/names.ts';
import type { ListedMember } from '../../../../interfaces/etcd.ts';
import { existingInDoubt, goneForGood, inheritedIn, isAdopting } from '../../../know/adoption/inherited.ts';
import { act, type Decision, refuse, refuseUntil, wait } from '../../../know/decision.ts';
import { hearsLeader, memberOf } from '../../../know/health/health.ts';
import { recordOf } from '../../../know/life.ts';
import { hasHealthyQuorum, isQuorumWithout, unknownAmong, votersOf } from '../../../know/membership/voters.ts';
import type { Situation } from '../../../know/situation.ts';
import { removalOf } from '../../removal.ts';

/**
 * The EtcdCluster is deleted while members of another origin vote beside ours: they would lose their quorum with ours.
 * So ours leave first, one at a time, the one with the highest ordinal first; what was begun before all.
 *
 * Guards I1: a quorum of all is healthy before each of them is begun, and of the others when etcd is asked again.
 */
export function leaveExisting(situation: Situation): Decision | undefined {
  const { membership, slots } = situation;
  if (!isAdopting(situation) || slots.every(({ volume, peer }) => !volume && !peer)) return undefined;
  if (membership.kind === 'unknown') return awaitList(membership.cause, situation);
  const { members, clusterId } = membership;
  const ours = slots.flatMap((slot) => {
    const member = memberOf(slot, members);
    return member ? [{ slot, member }] : [];
  });
  const [next] = ours.toSorted(
    (a, b) => Number(isBegun(b.slot)) - Number(isBegun(a.slot)) || b.slot.ordinal - a.slot.ordinal,
  );
  if (!next) return undefined;
  const { slot, member } = next;
  // A member that counts as ill leaves as well: its removal may have been sent, or its volume is lost.
  const isFit = isBegun(slot) || hearsLeader(slot) || hasHealthyQuorum(situation);
  if (!isFit || !isQuorumWithout(member.id, situation)) {
    return wait(
      'AdoptionUnfinished',
      `the deletion waits: without a healthy quorum no member of ours leaves ${inheritedIn(situation)
        .map((one) => one.member.name)
        .join(', ')}`,
      { on: 'change', of: 'pods' },
      { on: 'time', afterSeconds: 5 },
    );
  }
  return act(
    removalOf(slot, member, clusterId, situation),
    'LeavingExisting',
    `removing ${slot.name} from the member list: the EtcdCluster is being deleted, and the members that were there before it go on alone`,
  );
}

function awaitList(cause: string, situation: Situation): Decision | undefined {
  const { cluster } = situation;
  const existing = existingInDoubt(situation);
  return (
    existing &&
    refuseUntil(
      {
        approval: goneForGood(existing, situation),
        cure: 'let the cluster that spec.bootstrap.existing names answer; or, if its members are gone for good, approve that',
        cluster,
      },
      'AdoptionUnfinished',
      `the deletion waits: members of ours may be part of the quorum of another cluster, and its member list is unknown: ${cause}`,
    )
  );
}

/**
 * The same where the spec names no members of another origin any more: the list does. They may rely on ours, and
 * nothing here can tell which of them are well.
 *
 * Guards I13.
 */
export function awaitStrangers(situation: Situation): Decision | undefined {
  const { membership, slots, cluster } = situation;
  if (membership.kind === 'unknown') return undefined;
  const voters = votersOf(membership.members);
  const stranger = unknownAmong(
    voters.filter((member) => !wasOurs(member, situation)),
    situation,
  );
  if (!stranger || !slots.some((slot) => memberOf(slot, voters))) return undefined;
  const who = stranger.name || stranger.id;
  return refuse(
    'AdoptionUnfinished',
    `the deletion waits: ${who} votes beside members of ours, and has no EtcdPeer: it may lose its quorum with them`,
    `if it is of another origin, name it in spec.bootstrap.existing of EtcdCluster ${cluster.metadata.name} again: ours then leave first; or, if it is not needed, remove it: etcdctl member remove ${stranger.id}`,
  );
}

/** No other cluster has an address behind our headless Service: its EtcdPeer and its volume are lost. */
function wasOurs({ name, peerURLs }: ListedMember, { cluster, effective }: Situation): boolean {
  const { name: ofCluster, namespace = '' } = cluster.metadata;
  const url = peerUrl(namespace, ofCluster, name, schemeOf(effective.inputs.tls.mode));
  return peerURLs.includes(url);
}

function isBegun(slot: Situation['slots'][number]): boolean {
  return recordOf(slot)?.state === 'releasing';
}
