import type { ClusterSetAside } from '../../manifests/api/etcd-cluster.ts';
import type { Decision } from './decision.ts';
import { type Effective, effectiveSpec } from './effective.ts';
import { setLateAside } from './late-volumes.ts';
import { type Life, lifeOf } from './life.ts';
import type { Observation } from './observation.ts';
import { adopt } from './rules/adopt.ts';
import { anotherDisk } from './rules/another-disk.ts';
import { awaitClaim } from './rules/await-claim.ts';
import { awaitGrowth } from './rules/await-growth.ts';
import { awaitLeftovers } from './rules/await-leftovers.ts';
import { awaitQuorum } from './rules/await-quorum.ts';
import { barMembers } from './rules/bar-members.ts';
import { beBorn } from './rules/be-born.ts';
import { blameCertificates } from './rules/blame-certificates.ts';
import { certify } from './rules/certify.ts';
import { admitCertificates, checkCertificates } from './rules/check-certificates.ts';
import { converged } from './rules/converged.ts';
import { cureConfiguration } from './rules/cure-configuration.ts';
import { defragment } from './rules/defragment.ts';
import { deleteReplaced } from './rules/delete-replaced.ts';
import { dropGhost } from './rules/drop-ghost.ts';
import { dropLearner } from './rules/drop-learner.ts';
import { finishDeletion } from './rules/finish-deletion.ts';
import { finishRemoval } from './rules/finish-removal.ts';
import { finishRolling } from './rules/finish-rolling.ts';
import { followVolumes } from './rules/follow-volumes.ts';
import { freeSpace, lackSpace } from './rules/free-space.ts';
import { gate } from './rules/gate.ts';
import { growVolumes } from './rules/grow-volumes.ts';
import { heal } from './rules/heal.ts';
import { hibernate, sleep } from './rules/hibernate.ts';
import { holdFinalizer } from './rules/hold-finalizer.ts';
import { join } from './rules/join.ts';
import { judgeCorruption } from './rules/judge-corruption.ts';
import { keepIdentity } from './rules/keep-identity.ts';
import { letRemovedGo } from './rules/let-removed-go.ts';
import { nameRefusals } from './rules/name-refusals.ts';
import { noteDisks } from './rules/note-disks.ts';
import { outliveVolume } from './rules/outlive-volume.ts';
import { recoverQuorum } from './rules/recover-quorum.ts';
import { recreatePod } from './rules/recreate-pod.ts';
import { reloadAuthorities } from './rules/reload-authorities.ts';
import { keepRequesting, requestCertificates } from './rules/request-certificates.ts';
import { nameUnlabelledPods, restoreLabels } from './rules/restore-labels.ts';
import { rollConfiguration } from './rules/roll-configuration.ts';
import { retireAuthorities, rotateAuthorities } from './rules/rotate-authorities.ts';
import { grow, shrink, shrinkFirst } from './rules/scale.ts';
import { seal } from './rules/seal.ts';
import { startMembers } from './rules/start-members.ts';
import { staySuspended } from './rules/stay-suspended.ts';
import { supportMembers } from './rules/support-members.ts';
import { takeBack } from './rules/take-back.ts';
import { upgrade } from './rules/upgrade.ts';
import { setAsideNow } from './set-aside.ts';
import { asItStands, concluded, maySpeak, type PassedOver, passOver } from './stepping-aside.ts';

/** What the rules look at: the observation, and what follows from it for all of them. */
export interface Situation extends Observation {
  readonly life: Life;
  readonly effective: Effective;
  /** Actions that were refused for good, and are not to be tried again yet. */
  readonly refused: readonly ClusterSetAside[];
}

/** Speaks, or lets the next rule speak. */
export type Rule = (situation: Situation) => Decision | undefined;

/**
 * In order of precedence: the order is the safety policy (ARCHITECTURE.md, "The rules"). The first rule that speaks wins.
 *
 * What keeps a cluster alive comes before what changes it: everything below `gate` needs every member healthy.
 */
export const rules = [
  awaitClaim,
  finishDeletion,
  staySuspended,
  awaitLeftovers,
  holdFinalizer,
  restoreLabels,
  barMembers,
  supportMembers,
  followVolumes,
  beBorn,
  sleep,
  adopt,
  certify,
  requestCertificates,
  admitCertificates,
  recoverQuorum,
  startMembers,
  cureConfiguration,
  keepIdentity,
  seal,
  finishRemoval,
  takeBack,
  judgeCorruption,
  freeSpace,
  growVolumes,
  keepRequesting,
  blameCertificates,
  reloadAuthorities,
  anotherDisk,
  awaitQuorum,
  recreatePod,
  outliveVolume,
  heal,
  letRemovedGo,
  dropLearner,
  dropGhost,
  join,
  finishRolling,
  gate,
  noteDisks,
  hibernate,
  shrinkFirst,
  retireAuthorities,
  upgrade,
  rollConfiguration,
  rotateAuthorities,
  lackSpace,
  grow,
  shrink,
  defragment,
  deleteReplaced,
  nameRefusals,
  nameUnlabelledPods,
  checkCertificates,
  awaitGrowth,
  converged,
] as const satisfies readonly Rule[];

/**
 * Decides one step. Pure: no clock, no environment, no I/O.
 *
 * A rule whose action was refused for good, or that refuses for the sake of one member only, is passed over where the others do not rest on
 * it (`stepping-aside.ts`): what keeps a cluster alive is reached whatever fails elsewhere, and what would change it is not begun.
 */
export function decide(observation: Observation): Decision {
  const situation = situate(observation);
  const passed: PassedOver[] = [];
  let belowTheGate = false;
  for (const rule of rules) {
    const isHeld = passed.some(({ holds }) => holds.includes(rule)) || (belowTheGate && !maySpeak(rule, passed));
    if (rule === gate) belowTheGate = true;
    const said = isHeld ? undefined : rule(situation);
    if (!said) continue;
    const stands = asItStands(said, situation);
    const passing = passOver(rule, said, stands, situation);
    if (!passing) return concluded(rule, stands, passed, situation);
    passed.push({ ...passing, told: stands });
  }
  throw new Error('no rule spoke: the last one, converged, always does');
}

export function situate(observation: Observation): Situation {
  const seen = { ...observation, slots: setLateAside(observation) };
  const life = lifeOf(seen);
  const refused = setAsideNow(seen);
  return { ...seen, life, effective: effectiveSpec({ ...seen, refused }, life), refused };
}
