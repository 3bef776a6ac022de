import { peerName, peerUrl, schemeOf } from '../../../manifests/build/names.ts';
import type { VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { memberOf } from '../health.ts';
import { successorOf } from '../leadership.ts';
import { recordOf } from '../life.ts';

/**
 * More members than there are: volume and peer of one more are recorded, and `join` makes it a member.
 *
 * Its ordinal is the lowest that nothing bears: no peer, pod or volume, also of a member that left, and no entry of the list.
 */
export function grow(situation: Situation): Decision | undefined {
  const { membership, effective, life, cluster, slots } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  const { members, clusterId } = membership;
  if (members.length >= effective.replicas) return undefined;
  const { name: clusterName, namespace = '' } = cluster.metadata;
  const scheme = schemeOf(effective.inputs.tls.mode);
  const urlOf = (member: string) => peerUrl(namespace, clusterName, member, scheme);
  const isTaken = (ordinal: number) =>
    slots.some((slot) => slot.ordinal === ordinal) ||
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
  };
  return act(
    { kind: 'prepare-members', members: [{ name, record }], inputs: effective.inputs },
    'PreparingMember',
    `recording volume and peer of ${name}, which is to join`,
  );
}

/**
 * Fewer members than there are: the one with the highest number leaves, compared as numbers; if it leads, leadership goes first.
 *
 * Guards I1: all are healthy, and it is one at a time.
 */
export function shrink(situation: Situation): Decision | undefined {
  const { membership, effective, life, slots } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  const { members, clusterId } = membership;
  if (members.length <= effective.replicas) return undefined;
  const [last] = slots
    .filter((slot) => memberOf(slot, members) && recordOf(slot))
    .toSorted((a, b) => b.ordinal - a.ordinal);
  const member = last && memberOf(last, members);
  if (!last?.volume || !member) return undefined;
  const { name, volume } = last;
  const successor = successorOf(last, situation);
  return act(
    {
      kind: 'remove-member',
      name,
      memberId: member.id,
      clusterId,
      volume: { name, uid: volume.uid },
      ...(successor && { successor }),
    },
    'RemovingMember',
    `removing ${name} from the member list: the spec asks for fewer members`,
  );
}
