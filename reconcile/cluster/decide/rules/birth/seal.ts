import { annotations } from '../../../../../manifests/render/names.ts';
import type { SealedMember } from '../../../know/actions/birth.ts';
import { act, type Decision, refuse } from '../../../know/decision.ts';
import { minAvailableFor } from '../../../know/health/drains.ts';
import { isNearlyInSync } from '../../../know/health/health.ts';
import { isFromRecovery, recordOf } from '../../../know/life.ts';
import { votersOf } from '../../../know/membership/voters.ts';
import type { Membership, Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { revisionsGoBack } from '../../restoring.ts';
import { isBudgetDue } from './support-members.ts';

type KnownMembership = Extract<Membership, { kind: 'known' }>;

/**
 * Started members are sealed: from then on their bootstrap settings no longer name them, so that on an empty volume
 * they exit instead of rejoining under their old ID.
 *
 * Guards I5. A voter that comes back empty under its ID forgets writes that it acknowledged; the loss was reproduced on
 * etcd 3.5, 3.6 and 3.7, with initial-cluster-state `new` and `existing`.
 */
export function seal(situation: Situation): Decision | undefined {
  const { slots, membership } = situation;
  if (membership.kind === 'unknown') return undefined;
  const recovered = slots.find((slot) => recordOf(slot)?.state === 'recovered');
  if (recovered) return sealRecovered(recovered, membership);
  const restored = slots.find((slot) => recordOf(slot)?.state === 'restored');
  if (restored) return sealRestored(restored, membership, situation);
  const members = slots.flatMap((slot): SealedMember[] => {
    const record = recordOf(slot);
    if (record?.state !== 'bootstrapping' && record?.state !== 'joining') return [];
    if (slot.volume?.leaving || slot.endpoint.kind === 'unknown') return [];
    const { memberId, version } = slot.endpoint.status;
    const listed = membership.members.find(({ id }) => id === memberId);
    return listed?.name === slot.name ? [{ name: slot.name, memberId, version }] : [];
  });
  if (members.length === 0) return undefined;
  const opens = endsBirth(members, situation);
  const promotes = !opens && members.length === 1 && mayVote(members[0], situation);
  const then = opens ? '; then the Service for clients is opened' : promotes ? '; then it becomes a voter' : '';
  return act(
    {
      kind: 'seal-members',
      clusterId: membership.clusterId,
      members,
      ...(opens && opening(situation, membership)),
      ...(promotes && { promotes: true as const }),
    },
    'SealingMembers',
    `sealing ${members.map(({ name }) => name).join(', ')}: once started, a member never starts empty again${then}`,
  );
}

/** A learner that goes on running, and that etcd would promote now, or within the moment for which it is asked. */
function mayVote(member: SealedMember | undefined, situation: Situation): boolean {
  const { slots, membership } = situation;
  const slot = slots.find(({ name }) => name === member?.name);
  if (!slot || slot.pod?.leaving || membership.kind === 'unknown' || !isNearlyInSync(slot, situation)) return false;
  return membership.members.some(({ id, isLearner }) => id === member?.memberId && isLearner);
}

/** Whether every recorded member is sealed with these, and only the Service for clients is missing. */
function endsBirth(members: readonly SealedMember[], { life, slots, shared }: Situation): boolean {
  const { state } = shared.clientService;
  if (life.stage !== 'birth' || (state !== 'missing' && state !== 'drifted')) return false;
  const sealed = new Set(members.map(({ name }) => name));
  const names = [...life.record.initialCluster, ...slots.filter(({ peer }) => peer?.current)].map(({ name }) => name);
  return names.every((name) => {
    const slot = slots.find((one) => one.name === name);
    return sealed.has(name) || (slot && recordOf(slot)?.state === 'sealed' && slot.configMap?.immutable);
  });
}

/** After a restore: alone, in a cluster with an ID of its own. */
function sealRestored(slot: Slot, membership: KnownMembership, situation: Situation): Decision | undefined {
  const { name, endpoint } = slot;
  if (endpoint.kind === 'unknown') return undefined;
  const { clusterId, members } = membership;
  const { memberId, version, revision } = endpoint.status;
  const isRecovery = isFromRecovery(slot);
  const [only, ...others] = members;
  if (only?.id !== memberId || only.isLearner || others.length > 0) {
    if (isRecovery) return unexpected(slot, members);
    return refuse(
      'RecoveredListUnexpected',
      `${name} was to be the only member after its restore, and the member list has ${members.map((member) => member.name || member.id).join(', ')}`,
      'delete the EtcdCluster with its PersistentVolumeClaims, and create it again: no client was admitted yet',
    );
  }
  const { state } = situation.shared.clientService;
  const opens = state === 'missing' || state === 'drifted';
  return act(
    {
      kind: 'seal-members',
      clusterId,
      members: [{ name, memberId, version, floor: Number(revision) }],
      ...(opens && opening(situation, membership)),
    },
    isRecovery ? 'RecoveredQuorum' : 'RestoredSnapshot',
    `${name} serves ${isRecovery ? 'what the recovery went on from' : 'the restored data'}, as the first member of etcd cluster ${clusterId}${insteadOf(slot)}${opens ? '; then the Service for clients is opened' : ''}`,
  );
}

/** With its first client a cluster has a quorum to lose: then its disruption budget comes. */
function opening(situation: Situation, { members }: KnownMembership) {
  const minAvailable = minAvailableFor(votersOf(members).length, situation);
  const isDue = minAvailable > 0 && isBudgetDue(situation.shared.disruptionBudget, minAvailable);
  return { opens: true as const, ...(isDue && { minAvailable }) };
}

function insteadOf(slot: Slot): string {
  const former = recordOf(slot)?.gaveUp?.at(-1);
  return former === undefined ? ', which is new' : `, which takes the place of ${former}`;
}

function unexpected({ name }: Slot, members: KnownMembership['members']): Decision {
  return refuse(
    'RecoveredListUnexpected',
    `${name} was to be the only member after its recovery, and the member list has ${members.map((member) => member.name || member.id).join(', ')}`,
    `look at "etcdctl member list"; if the PVC was restored from a backup and the recovery is long over, set annotation ${annotations.volumeState} of PersistentVolumeClaim ${name} to sealed; else remove every member that does not belong there (etcdctl member remove)`,
  );
}

/** After a recovery that forced the data where they are: the member list, of which it is the quorum, has it alone. */
function sealRecovered(slot: Slot, { clusterId, members }: KnownMembership): Decision | undefined {
  const { name, endpoint } = slot;
  if (endpoint.kind === 'unknown') return undefined;
  const { memberId, version } = endpoint.status;
  const [only, ...others] = members;
  if (only?.id !== recordOf(slot)?.memberId || only?.id !== memberId || only.isLearner || others.length > 0)
    return unexpected(slot, members);
  return act(
    { kind: 'seal-members', clusterId, members: [{ name, memberId, version }] },
    'RecoveredQuorum',
    `${name} is the only member now, and serves: the recovery is over, and the cluster grows again as the spec asks; ${revisionsGoBack}`,
  );
}
