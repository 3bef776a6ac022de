import { peerName, peerUrl, schemeOf } from '../../../manifests/build/names.ts';
import type { VolumeRecord } from '../../../manifests/build/volume-record.ts';
import { isOutOfSpace } from '../databases.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { learnersFail } from '../failed-joins.ts';
import { memberOf } from '../health.ts';
import { recordOf } from '../life.ts';
import { outvotedBy } from '../outvoted.ts';
import { removalOf } from '../removal.ts';
import { waitForRoom } from '../wait-for-room.ts';

/** More members than there are: volume and peer of one more are recorded, and `join` makes it a member. */
export function grow(situation: Situation): Decision | undefined {
  const { membership, effective } = situation;
  if (membership.kind === 'unknown' || membership.members.length >= effective.replicas) return undefined;
  const member = joiner(situation);
  if (!member) return undefined;
  const failing = learnersFail(situation);
  if (failing) return failing;
  if (situation.crowdedBy) return waitForRoom(situation);
  return act(
    {
      kind: 'prepare-members',
      members: [member],
      inputs: { ...effective.inputs, storage: effective.newStorage },
    },
    'PreparingMember',
    `recording volume and peer of ${member.name}, which is to join`,
  );
}

/**
 * The next member, as its volume will remember it. Its ordinal is the lowest that nothing bears: no peer, pod or volume, also of a
 * member that left, no entry of the list, and none whom a recovery left behind: such a one may still turn up.
 */
export function joiner({
  membership,
  effective,
  life,
  cluster,
  slots,
}: Situation): { readonly name: string; readonly record: VolumeRecord } | undefined {
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  const { members, clusterId } = membership;
  const { name: clusterName, namespace = '' } = cluster.metadata;
  const scheme = schemeOf(effective.inputs.tls.mode);
  const urlOf = (member: string) => peerUrl(namespace, clusterName, member, scheme);
  const outvoted = outvotedBy(slots);
  const isTaken = (ordinal: number) =>
    slots.some((slot) => slot.ordinal === ordinal) ||
    outvoted.some((member) => member.name === peerName(clusterName, ordinal)) ||
    members.some(({ peerURLs }) => peerURLs.includes(urlOf(peerName(clusterName, ordinal))));
  let ordinal = 0;
  while (isTaken(ordinal)) ordinal += 1;
  const name = peerName(clusterName, ordinal);
  const others = members.map((member) => ({ name: member.name, url: member.peerURLs[0] ?? '' }));
  const record: VolumeRecord = {
    token: life.token,
    initialCluster: [...others, { name, url: urlOf(name) }],
    clusterId,
    version: effective.inputs.version,
    tlsMode: effective.inputs.tls.mode,
    state: 'joining',
    ...(outvoted.length > 0 && { outvoted }),
  };
  return { name, record };
}

/**
 * The same as `shrink`, before members that are to leave anyway are started anew for another version or configuration. What other rules
 * have begun comes first: a member that leaves in the midst of two versions may be the last that never ran the higher one, and so the
 * only way back (I6); and a cluster that is out of space gets its quota first.
 */
export function shrinkFirst(situation: Situation): Decision | undefined {
  const isSettled = runOneVersion(situation) && !isOutOfSpace(situation.slots);
  return isSettled ? shrink(situation) : undefined;
}

/** Every member was told one version, runs it, and its volume has noted that. */
function runOneVersion({ slots }: Situation): boolean {
  const ours = slots.filter(({ peer }) => peer?.current);
  const versions = ours.flatMap((slot) => {
    const { version, nextVersion = version } = recordOf(slot) ?? {};
    const runs = slot.endpoint.kind === 'known' ? slot.endpoint.status.version : undefined;
    return [slot.peer?.inputs.version, version, nextVersion, runs];
  });
  return new Set(versions).size === 1;
}

/**
 * Fewer members than there are: the one with the highest number leaves, compared as numbers; if it leads, leadership goes first.
 *
 * Guards I1: all are healthy, and it is one at a time.
 */
export function shrink(situation: Situation): Decision | undefined {
  const { membership, effective, life, slots } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  const { members } = membership;
  // None asked for means asleep, and not removed.
  if (effective.replicas === 0 || members.length <= effective.replicas) return undefined;
  const [last] = slots
    .filter((slot) => memberOf(slot, members) && recordOf(slot))
    .toSorted((a, b) => b.ordinal - a.ordinal);
  const member = last && memberOf(last, members);
  if (!last || !member) return undefined;
  if (situation.crowdedBy) return waitForRoom(situation);
  return act(
    removalOf(last, member, membership.clusterId, situation),
    'RemovingMember',
    `removing ${last.name} from the member list: the spec asks for fewer members`,
  );
}
