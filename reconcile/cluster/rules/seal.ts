import { annotations } from '../../../manifests/build/names.ts';
import type { SealedMember } from '../actions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse } from '../decision.ts';
import { recordOf } from '../life.ts';
import type { Membership, Slot } from '../observation.ts';

type KnownMembership = Extract<Membership, { kind: 'known' }>;

/**
 * Started members are sealed: from then on their bootstrap settings no longer name them, so that on an empty volume they
 * exit instead of rejoining under their old ID.
 *
 * Guards I5. A voter that comes back empty under its ID forgets writes that it acknowledged; the loss was reproduced on
 * etcd 3.5, 3.6 and 3.7, with initial-cluster-state `new` and `existing`.
 */
export function seal({ slots, membership }: Situation): Decision | undefined {
  if (membership.kind === 'unknown') return undefined;
  const recovered = slots.find((slot) => recordOf(slot)?.state === 'recovered');
  if (recovered) return sealRecovered(recovered, membership);
  const members = slots.flatMap((slot): SealedMember[] => {
    const record = recordOf(slot);
    if (record?.state !== 'bootstrapping' && record?.state !== 'joining') return [];
    if (slot.volume?.leaving || slot.endpoint.kind === 'unknown') return [];
    const { memberId, version } = slot.endpoint.status;
    const listed = membership.members.find(({ id }) => id === memberId);
    return listed?.name === slot.name ? [{ name: slot.name, memberId, version }] : [];
  });
  if (members.length === 0) return undefined;
  return act(
    { kind: 'seal-members', clusterId: membership.clusterId, members },
    'SealingMembers',
    `sealing ${members.map(({ name }) => name).join(', ')}: once started, a member never starts empty again`,
  );
}

/** After a recovery: the list that it stands behind itself has it and nobody else. */
function sealRecovered(slot: Slot, { clusterId, members }: KnownMembership): Decision | undefined {
  const { name, endpoint } = slot;
  if (endpoint.kind === 'unknown') return undefined;
  const { memberId, version } = endpoint.status;
  const [only, ...others] = members;
  if (only?.id !== recordOf(slot)?.memberId || only?.id !== memberId || only.isLearner || others.length > 0) {
    return refuse(
      'RecoveredListUnexpected',
      `${name} was to be the only member after its recovery, and the member list has ${members.map((member) => member.name || member.id).join(', ')}`,
      `look at "etcdctl member list"; if the claim was restored from a backup and the recovery is long over, set annotation ${annotations.volumeState} of PersistentVolumeClaim ${name} to sealed; else remove who does not belong there (etcdctl member remove)`,
    );
  }
  return act(
    { kind: 'seal-members', clusterId, members: [{ name, memberId, version }] },
    'RecoveredQuorum',
    `${name} is the only member now, and serves: the recovery is over, and the cluster grows again as the spec asks`,
  );
}
