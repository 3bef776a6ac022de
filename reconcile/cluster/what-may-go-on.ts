import type { Rule, Situation } from './decide.ts';
import type { Decision } from './decision.ts';
import { adopt } from './rules/adopt.ts';
import { isBeingRecovered } from './rules/await-quorum.ts';
import { barMembers } from './rules/bar-members.ts';
import { beBorn } from './rules/be-born.ts';
import { blameCertificates } from './rules/blame-certificates.ts';
import { certify, lackedBeforeAStart } from './rules/certify.ts';
import { admitCertificates } from './rules/check-certificates.ts';
import { cureConfiguration } from './rules/cure-configuration.ts';
import { defragment } from './rules/defragment.ts';
import { deleteReplaced } from './rules/delete-replaced.ts';
import { dropGhost } from './rules/drop-ghost.ts';
import { dropLearner } from './rules/drop-learner.ts';
import { finishRemoval } from './rules/finish-removal.ts';
import { finishRolling } from './rules/finish-rolling.ts';
import { followVolumes } from './rules/follow-volumes.ts';
import { freeSpace, lackSpace } from './rules/free-space.ts';
import { gate } from './rules/gate.ts';
import { growVolumes } from './rules/grow-volumes.ts';
import { heal } from './rules/heal.ts';
import { sleep } from './rules/hibernate.ts';
import { holdFinalizer } from './rules/hold-finalizer.ts';
import { join } from './rules/join.ts';
import { letRemovedGo } from './rules/let-removed-go.ts';
import { noteDisks } from './rules/note-disks.ts';
import { outliveVolume } from './rules/outlive-volume.ts';
import { recoverQuorum } from './rules/recover-quorum.ts';
import { recreatePod } from './rules/recreate-pod.ts';
import { reloadAuthorities } from './rules/reload-authorities.ts';
import { keepRequesting, requestCertificates } from './rules/request-certificates.ts';
import { restoreLabels } from './rules/restore-labels.ts';
import { rollConfiguration } from './rules/roll-configuration.ts';
import { retireAuthorities, rotateAuthorities } from './rules/rotate-authorities.ts';
import { grow, shrink, shrinkFirst } from './rules/scale.ts';
import { seal } from './rules/seal.ts';
import { startMembers } from './rules/start-members.ts';
import { supportMembers } from './rules/support-members.ts';
import { upgrade } from './rules/upgrade.ts';

/** What may be done though a rule has spoken that can't get what it wants. */
export interface Passing {
  /** These rest on it, and may not. */
  readonly holds: readonly Rule[];
  /** Whether what is below the gate, which changes a cluster that works, may begin. */
  readonly changesMayGoOn: boolean;
  /** What others wait for further down rests on it: the wait would hide the cause. */
  readonly inVain: boolean;
}

/** Of what the rule said: a refusal, a wait, or an action that was refused for good. `undefined`: nothing below may be done. */
type Passes = (said: Decision, situation: Situation) => Passing | undefined;

/** Nothing rests on it but changes; what others wait for comes all the same. */
const besides: Passing = { holds: [], changesMayGoOn: false, inVain: false };
/** A member does not get what it needs: others are looked after, and nobody waits for that one. */
const without: Passing = { holds: [], changesMayGoOn: false, inVain: true };
/** Two changes of the member list at once could leave no quorum (I2). */
const membership: readonly Rule[] = [outliveVolume, heal, letRemovedGo, dropLearner, dropGhost, join];
const cares: Passing = { holds: [], changesMayGoOn: true, inVain: false };

/**
 * Of every rule that may be passed over; where one is missing, nothing below it may be done.
 *
 * Not `finishDeletion`, `staySuspended`, `hibernate` (a person's word), `awaitClaim`, `awaitLeftovers` (an old pod may write), `judgeCorruption`,
 * `keepIdentity` (it is not known whose data are right, or whose list that is), `anotherDisk`, `awaitQuorum` and `gate` (what is below needs what they ask for).
 */
export const passings: ReadonlyMap<Rule, Passes> = new Map<Rule, Passes>([
  [holdFinalizer, () => besides],
  // Without its labels an object is read by name.
  [restoreLabels, () => besides],
  // On another disk than it was sealed on nobody is to start (I5): `startMembers` looks for itself.
  [barMembers, () => ({ ...without, holds: [recreatePod, finishRolling] })],
  [supportMembers, support],
  // On settings that do not say what its volume says no member is started; `startMembers` looks for itself (I5).
  [followVolumes, () => without],
  // Of a cluster that is born: volumes that no member has.
  [beBorn, () => besides],
  [sleep, (_, { effective }) => (effective.replicas > 0 ? without : undefined)],
  [adopt, () => without],
  [certify, certificates],
  [requestCertificates, certificates],
  [admitCertificates, certificates],
  // A recovery is finished, or a person's; what is left over from one is nobody's need.
  [recoverQuorum, (_, { slots }) => (slots.some(isBeingRecovered) ? undefined : besides)],
  [startMembers, () => without],
  // Whoever is started anew would be so from the template that could not be put right.
  [cureConfiguration, () => ({ ...without, holds: [finishRolling] })],
  // Members that are not sealed get no vote (I5): `promote-learner` looks for itself. A list that nobody expected is a person's.
  [seal, ({ reason }) => (reason === 'RecoveredListUnexpected' ? undefined : without)],
  [finishRemoval, removal],
  [freeSpace, onlyAction(besides)],
  [growVolumes, () => besides],
  [keepRequesting, () => cares],
  [blameCertificates, (_, { certificates: { kind } }) => (kind === 'read' ? beforeTheGate : undefined)],
  [
    reloadAuthorities,
    ({ reason }) => (reason === 'AuthorityLost' ? undefined : { ...without, holds: [finishRolling] }),
  ],
  [recreatePod, () => without],
  ...membership.map((rule): [Rule, Passes] => [rule, ({ kind }) => (kind === 'wait' ? undefined : ofOneMember)]),
  [finishRolling, () => ofOneMember],
  // Each of these looks again at what it needs, and the gate has found everybody well. On a version or configuration that can't be had,
  // no member is added.
  [noteDisks, onlyAction(cares)],
  [retireAuthorities, onlyAction(cares)],
  [upgrade, onlyAction({ ...cares, holds: [rollConfiguration, rotateAuthorities, grow] })],
  [rollConfiguration, onlyAction({ ...cares, holds: [rotateAuthorities, grow] })],
  [rotateAuthorities, onlyAction(cares)],
  [lackSpace, onlyAction(cares)],
  [grow, onlyAction(cares)],
  [shrinkFirst, onlyAction(cares)],
  [shrink, onlyAction(cares)],
  [deleteReplaced, onlyAction(cares)],
  [defragment, onlyAction(cares)],
]);

/** What the gate says of that member is said better already. */
const ofOneMember: Passing = { ...without, holds: [gate] };
const beforeTheGate: Passing = { ...without, holds: [finishRolling, gate] };

function onlyAction(passing: Passing): Passes {
  return ({ kind }) => (kind === 'act' ? passing : undefined);
}

/** Without its address a member that is started anew finds nobody. */
function support(said: Decision): Passing {
  const hasAddresses =
    said.kind === 'act' && said.action.kind === 'apply-shared' && !said.action.objects.includes('headless-service');
  return hasAddresses ? besides : { ...besides, holds: [finishRolling] };
}

/** No member is started before its certificates are there. */
function certificates({ kind }: Decision, situation: Situation): Passing {
  const { certificates: seen } = situation;
  const starts = seen.kind === 'read' && lackedBeforeAStart(situation, seen).length > 0;
  if (starts) return { ...beforeTheGate, holds: [startMembers, ...beforeTheGate.holds] };
  return kind === 'wait' ? beforeTheGate : besides;
}

/** A removal that was begun may still be decided: nobody else comes or goes before. Not so what is left of a removed member. */
function removal(said: Decision): Passing {
  if (said.kind === 'act' && said.action.kind === 'retire-member') return { ...besides, holds: [gate] };
  return { ...beforeTheGate, holds: [...membership, ...beforeTheGate.holds] };
}
