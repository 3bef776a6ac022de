import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { says } from '../../reasons/reasons.ts';
import type { ActionKind } from '../know/action.ts';
import type { Decision } from '../know/decision.ts';
import { isBeingRecovered } from '../know/life.ts';
import type { Rule, Situation } from '../know/situation.ts';
import { isOutOfSpace } from '../know/space/databases.ts';
import { dropInherited, takeOver } from './rules/adoption/take-over.ts';
import { keepAuth } from './rules/auth/keep-auth.ts';
import { adopt } from './rules/birth/adopt.ts';
import { beBorn } from './rules/birth/be-born.ts';
import { keepLabels } from './rules/birth/keep-labels.ts';
import { runMembers } from './rules/birth/run-members.ts';
import { seal } from './rules/birth/seal.ts';
import { supportMembers } from './rules/birth/support-members.ts';
import { keepRequesting } from './rules/certificates/ask-cert-manager.ts';
import { blameCertificates } from './rules/certificates/blame-certificates.ts';
import { lackedBeforeAStart } from './rules/certificates/certify.ts';
import { keepIntermediate } from './rules/certificates/keep-intermediate.ts';
import { provideCertificates } from './rules/certificates/provide-certificates.ts';
import { reloadAuthorities } from './rules/certificates/reload-authorities.ts';
import { dropOldAuthorities, renewAuthorities } from './rules/certificates/renew-authorities.ts';
import { takeNames } from './rules/certificates/take-names.ts';
import { backUpBeforeHibernation } from './rules/deletion/back-up-before-hibernation.ts';
import { hibernate, sleep } from './rules/deletion/hibernate.ts';
import { holdFinalizer } from './rules/deletion/hold-finalizer.ts';
import { gate } from './rules/general/gate.ts';
import { dropLearner } from './rules/membership/drop-learner.ts';
import { finishRemoval } from './rules/membership/finish-removal.ts';
import { heal } from './rules/membership/heal.ts';
import { join } from './rules/membership/join.ts';
import { letRemovedGo } from './rules/membership/let-removed-go.ts';
import { grow, shrink, shrinkFirst } from './rules/membership/scale.ts';
import { unstickPod } from './rules/membership/unstick-pod.ts';
import { awaitQuorum } from './rules/recovery/await-quorum.ts';
import { recoverQuorum } from './rules/recovery/recover-quorum.ts';
import { rollBack } from './rules/recovery/roll-back.ts';
import { backUpFirst } from './rules/rolling/back-up-first.ts';
import { cureConfiguration } from './rules/rolling/cure-configuration.ts';
import { finishRolling } from './rules/rolling/finish-rolling.ts';
import { keepTemplates } from './rules/rolling/keep-templates.ts';
import { rollConfiguration } from './rules/rolling/roll-configuration.ts';
import { upgrade } from './rules/rolling/upgrade.ts';
import { defragment } from './rules/space/defragment.ts';
import { freeSpace, lackSpace } from './rules/space/free-space.ts';
import { raiseQuota } from './rules/space/raise-quota.ts';
import { anotherDisk } from './rules/volumes/another-disk.ts';
import { barOtherDisks } from './rules/volumes/bar-other-disks.ts';
import { deleteReplaced } from './rules/volumes/delete-replaced.ts';
import { enlargeVolumes } from './rules/volumes/enlarge-volumes.ts';
import { keepConfigMaps } from './rules/volumes/keep-config-maps.ts';
import { knowDisks } from './rules/volumes/know-disks.ts';
import { outliveVolume } from './rules/volumes/outlive-volume.ts';

/** What may still be done when a rule decided and cannot get what it wants. */
export interface Passing {
  /** Rules that depend on it, and may not act. */
  readonly holds: readonly Rule[];
  /** Whether the rules below the gate, which change a working cluster, may begin. */
  readonly changesMayGoOn: boolean;
  /** Waits of rules further down depend on it: such a wait would hide the cause. */
  readonly inVain: boolean;
}

/** By the rule's decision: a refusal, a wait, or an action refused for good. `undefined`: no rule below may act. */
type Passes = (said: Decision, situation: Situation) => Passing | undefined;

/** Only changes depend on it; waits of other rules end all the same. */
const besides: Passing = { holds: [], changesMayGoOn: false, inVain: false };
/** A member does not get what it needs: the others are looked after, and no rule waits for that member. */
const without: Passing = { holds: [], changesMayGoOn: false, inVain: true };
/** Two changes of the member list at once could leave no quorum (I2). */
const membership: readonly Rule[] = [outliveVolume, heal, dropInherited, letRemovedGo, dropLearner, join];
const cares: Passing = { holds: [], changesMayGoOn: true, inVain: false };

/**
 * Every rule that may be passed over; below a rule that is missing here, no rule may act.
 *
 * Not `finishDeletion`, `staySuspended` (a person's decision), `awaitLease`, `awaitLeftovers` (an old pod
 * may write), `judgeCorruption`, `keepIdentity` (it is unknown whose data are right, or whose list that is),
 * `anotherDisk`, `awaitQuorum` and `gate` (the rules below need what these ask for).
 */
export const passings: ReadonlyMap<Rule, Passes> = new Map<Rule, Passes>([
  [holdFinalizer, () => besides],
  // Without its labels an object is read by name.
  [keepLabels, () => besides],
  [keepTemplates, templates],
  // No member may start on another disk than the one it was sealed on (I5): `runMembers` checks that itself.
  [barOtherDisks, () => ({ ...without, holds: [unstickPod, finishRolling] })],
  [supportMembers, support],
  // No member starts with settings that contradict its volume; `runMembers` checks that itself (I5).
  [keepConfigMaps, () => without],
  [rollBack, restored],
  // In a cluster that is born: volumes without a member. Data that nothing was to be restored over are not adopted.
  [beBorn, ({ reason }) => (reason === 'RestoreOverData' ? undefined : besides)],
  [sleep, (_, { effective }) => (effective.replicas > 0 ? without : undefined)],
  [adopt, () => without],
  [provideCertificates, certificates],
  // A recovery is finished, or left to a person; leftovers of one are not urgent.
  [recoverQuorum, (_, { slots }) => (slots.some(isBeingRecovered) ? undefined : besides)],
  [runMembers, () => without],
  // A restart would use the template that could not be corrected.
  [cureConfiguration, () => ({ ...without, holds: [finishRolling] })],
  // Members that are not sealed get no vote (I5): `promote-learner` checks that itself. An unexpected list is left to a
  // person.
  [seal, ({ reason }) => (reason === 'RecoveredListUnexpected' ? undefined : without)],
  [finishRemoval, removal],
  [freeSpace, onlyAction(besides)],
  [enlargeVolumes, () => besides],
  [keepRequesting, () => cares],
  [keepIntermediate, () => cares],
  [blameCertificates, (_, { certificates: { kind } }) => (kind === 'read' ? beforeTheGate : undefined)],
  [
    reloadAuthorities,
    ({ reason }) => (reason === 'AuthorityLost' ? undefined : { ...without, holds: [finishRolling] }),
  ],
  [unstickPod, () => without],
  ...membership.map((rule): [Rule, Passes] => [rule, ({ kind }) => (kind === 'wait' ? undefined : ofOneMember)]),
  [finishRolling, () => ofOneMember],
  // Each of these checks again what it needs, and the gate has found every member healthy. No member is added on a
  // version or configuration that cannot be had.
  [knowDisks, onlyAction(cares)],
  // Some volumes may say it by now: no member restarts with names before all do.
  [takeNames, onlyAction({ ...cares, holds: [upgrade, rollConfiguration, grow] })],
  [dropOldAuthorities, onlyAction(cares)],
  [raiseQuota, onlyAction(cares)],
  [takeOver, unlessOutOfSpace()],
  [backUpBeforeHibernation, unlessOutOfSpace()],
  [hibernate, unlessOutOfSpace()],
  [backUpFirst, inStages(unlessOutOfSpace())],
  [upgrade, inStages(unlessOutOfSpace({ ...cares, holds: [rollConfiguration, renewAuthorities, grow] }))],
  [rollConfiguration, inStages(unlessOutOfSpace({ ...cares, holds: [renewAuthorities, grow] }))],
  [renewAuthorities, unlessOutOfSpace(cares)],
  [lackSpace, onlyAction(cares)],
  [grow, onlyAction(cares)],
  [shrinkFirst, onlyAction(cares)],
  [shrink, onlyAction(cares)],
  [keepAuth, () => cares],
  [deleteReplaced, onlyAction(cares)],
  [defragment, onlyAction(cares)],
]);

/**
 * Actions on which a quorum, or a member's life, depends. Where such an action keeps failing for a cause that may pass,
 * other rules go on; but where no other step is possible it is retried at every look, as after its first failure.
 */
export const keepsAlive: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'follow-volumes',
  'bar-members',
  'wake-members',
  'prepare-members',
  'issue-certificates',
  'start-members',
  'seal-members',
  'remove-member',
  'recreate-pod',
  'add-learner',
  'promote-learner',
  'outvote-members',
  'delete-recovery-job',
]);

/** The rule names that member's trouble more precisely than the gate would. */
const ofOneMember: Passing = { ...without, holds: [gate] };
const beforeTheGate: Passing = { ...without, holds: [finishRolling, gate] };

function onlyAction(passing: Passing): Passes {
  return ({ kind }) => (kind === 'act' ? passing : undefined);
}

/**
 * A change that waits, for room, a window or a backup, or that asks for a person, must not hide that etcd accepts no
 * writes: `lackSpace` says that, with its cure, and no rule between the two acts.
 */
function unlessOutOfSpace(passing?: Passing): Passes {
  return ({ kind }, { slots }) => (kind === 'act' ? passing : isOutOfSpace(slots) ? besides : undefined);
}

/**
 * A stage may take days, or a person: whatever the commit did not ask for goes on. But for what gives members all that
 * the spec says, or needs a roll of its own.
 */
function inStages(otherwise: Passes): Passes {
  const staged: Passing = { ...cares, holds: [upgrade, rollConfiguration, renewAuthorities] };
  return (said, situation) => (says(said, 'WaitingForStage', 'RolloutHalted') ? staged : otherwise(said, situation));
}

/**
 * A pod that ended would come back on a template that is not ours; the actions check that themselves (I16). Where a
 * policy denies what a peer asks for, only a spec that asks for something else ends that: it is written, and compared.
 */
function templates(said: Decision, { slots, effective }: Situation): Passing {
  const holds = [reloadAuthorities, unstickPod, finishRolling];
  const wanted = inputsHash(effective.inputs);
  const isReplaced = slots
    .filter(({ statefulSet }) => statefulSet?.drift)
    .every(
      ({ statefulSet, peer }) => statefulSet?.drift?.kind === 'unknown' && peer && inputsHash(peer.inputs) !== wanted,
    );
  if (said.kind === 'refuse' && isReplaced) return { ...cares, holds };
  return { ...besides, holds: [cureConfiguration, ...holds] };
}

/** While the snapshot is restored, the present cluster is looked after; no change of it begins, and no recovery. */
function restored(_: Decision, { membership: { kind } }: Situation): Passing {
  if (kind === 'known') return { ...besides, holds: [recoverQuorum] };
  return { ...without, holds: [recoverQuorum, anotherDisk, awaitQuorum] };
}

/** Without the headless Service a restarted member finds no other member. */
function support(said: Decision): Passing {
  const hasAddresses =
    said.kind === 'act' && said.action.kind === 'apply-shared' && !said.action.objects.includes('headless-service');
  return hasAddresses ? besides : { ...besides, holds: [finishRolling] };
}

/** No member starts before its certificates exist. */
function certificates(said: Decision, situation: Situation): Passing {
  const { certificates: seen } = situation;
  const starts = seen.kind === 'read' && lackedBeforeAStart(situation, seen).length > 0;
  if (starts) return { ...beforeTheGate, holds: [runMembers, ...beforeTheGate.holds] };
  if (isOfUsersOnly(said)) return cares;
  return said.kind === 'wait' ? beforeTheGate : besides;
}

/** No member needs the certificate of a user. */
function isOfUsersOnly(said: Decision): boolean {
  if (said.kind !== 'act') return false;
  const { action } = said;
  if (action.kind !== 'issue-certificates' && action.kind !== 'hand-over-certificates') return false;
  return action.leaves.length > 0 && action.leaves.every(({ plan }) => plan.purpose === 'user');
}

/**
 * A removal that was begun may still be applied: no other member is added or removed before. Deleting the objects of a
 * removed member is no such case.
 */
function removal(said: Decision): Passing {
  if (said.kind === 'act' && said.action.kind === 'retire-member') return { ...besides, holds: [gate] };
  return { ...beforeTheGate, holds: [...membership, ...beforeTheGate.holds] };
}
