import type { Decision } from '../know/decision.ts';
import type { Observation } from '../know/observation.ts';
import { type Rule, situate } from '../know/situation.ts';
import { outlasted } from './outlasted.ts';
import { dropInherited, takeOver } from './rules/adoption/take-over.ts';
import { keepAuth } from './rules/auth/keep-auth.ts';
import { adopt } from './rules/birth/adopt.ts';
import { awaitLeftovers } from './rules/birth/await-leftovers.ts';
import { beBorn } from './rules/birth/be-born.ts';
import { beginFromSnapshot } from './rules/birth/begin-from-snapshot.ts';
import { keepIdentity } from './rules/birth/keep-identity.ts';
import { keepLabels } from './rules/birth/keep-labels.ts';
import { runMembers } from './rules/birth/run-members.ts';
import { seal } from './rules/birth/seal.ts';
import { supportMembers } from './rules/birth/support-members.ts';
import { takeBack } from './rules/birth/take-back.ts';
import { keepRequesting } from './rules/certificates/ask-cert-manager.ts';
import { blameCertificates } from './rules/certificates/blame-certificates.ts';
import { keepIntermediate } from './rules/certificates/keep-intermediate.ts';
import { provideCertificates } from './rules/certificates/provide-certificates.ts';
import { reloadAuthorities } from './rules/certificates/reload-authorities.ts';
import { dropOldAuthorities, renewAuthorities } from './rules/certificates/renew-authorities.ts';
import { takeNames } from './rules/certificates/take-names.ts';
import { backUpBeforeHibernation } from './rules/deletion/back-up-before-hibernation.ts';
import { finishDeletion } from './rules/deletion/finish-deletion.ts';
import { hibernate, sleep } from './rules/deletion/hibernate.ts';
import { holdFinalizer } from './rules/deletion/hold-finalizer.ts';
import { awaitLease } from './rules/general/await-lease.ts';
import { converged } from './rules/general/converged.ts';
import { gate } from './rules/general/gate.ts';
import { nameWhatIsLeft } from './rules/general/name-what-is-left.ts';
import { staySuspended } from './rules/general/stay-suspended.ts';
import { dropLearner } from './rules/membership/drop-learner.ts';
import { finishRemoval } from './rules/membership/finish-removal.ts';
import { heal } from './rules/membership/heal.ts';
import { join } from './rules/membership/join.ts';
import { letRemovedGo } from './rules/membership/let-removed-go.ts';
import { grow, shrink, shrinkFirst } from './rules/membership/scale.ts';
import { unstickPod } from './rules/membership/unstick-pod.ts';
import { awaitQuorum } from './rules/recovery/await-quorum.ts';
import { judgeCorruption } from './rules/recovery/judge-corruption.ts';
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
import { asItStands, concluded, maySpeak, type PassedOver, passOver } from './stepping-aside.ts';
import { withoutUnlistedImage } from './unlisted-image.ts';
import { withFourEyes } from './with-four-eyes.ts';

/** Why a rule stands where it does: what must be settled above it, or what it would break further up. */
type Row = readonly [rule: Rule, why: string];

/**
 * In order of precedence: the order is the safety policy (docs/explanation/rules.md). The first decision wins.
 *
 * What keeps a cluster alive comes before what changes it: everything below `gate` needs every member healthy.
 */
export const tiers = [
  {
    tier: 'precedence',
    rows: [
      [awaitLease, 'two invocations that act at once could undo each other: one step at a time, before all else'],
      [finishDeletion, 'a cluster that is being deleted is neither healed nor changed'],
      [
        staySuspended,
        'a suspension stops every step except a deletion: both are decisions of a person, and the deletion is the later one',
      ],
    ],
  },
  {
    tier: 'foundations',
    rows: [
      [awaitLeftovers, 'a pod of a deleted namesake may still write: nothing is created beside it (I5)'],
      [holdFinalizer, 'the finalizer is set before there are volumes that must be deleted with the cluster'],
      [keepLabels, 'the rules below rely on lists, and lists rely on labels (I4)'],
      [
        keepTemplates,
        'what another client wrote into a StatefulSet passed no check: nothing is restarted on it, and no pod that ends may come back on it (I16)',
      ],
      [barOtherDisks, 'a member on another disk is stopped before anything else can start it or rely on it (I5)'],
      [
        supportMembers,
        'members find each other by the headless Service; clients are admitted only when all members are sealed (I5)',
      ],
      [keepConfigMaps, 'a ConfigMap matches its volume before any member starts with it (I5)'],
      [
        rollBack,
        'a snapshot is restored beside the present cluster, also where that has no data any more: above the rule that then stops',
      ],
      [
        beBorn,
        'everything is recorded before any member starts; if the traces of a cluster contradict each other, no step follows',
      ],
      [sleep, 'members that hibernate are not down: the rules below would heal them'],
      [adopt, 'retained volumes get their peers back before rules decide which members are missing'],
    ],
  },
  {
    tier: 'certificates',
    rows: [
      [
        provideCertificates,
        'a member starts with certificates or not at all; a certificate that is due is renewed without a quorum',
      ],
    ],
  },
  {
    tier: 'start and cure',
    rows: [
      [
        beginFromSnapshot,
        'a cluster that is born from a snapshot has one member, which starts when its data are there (I5)',
      ],
      [recoverQuorum, 'a recovery is finished before any other member starts: the two must not meet'],
      [runMembers, 'a member that does not run costs the others part of their quorum: this needs no healthy member'],
      [
        cureConfiguration,
        'a member that does not run has nothing to lose: below, a broken template would wait for health for ever',
      ],
    ],
  },
  {
    tier: 'finish what was begun',
    rows: [
      [keepIdentity, 'the rules below trust a member list only of the cluster that the volumes belong to (I9)'],
      [seal, 'before its vote counts, a member can no longer start on an empty volume (I5)'],
      [finishRemoval, 'etcd may apply a removal at any time: no other change of the member list begins before (I2)'],
      [takeBack, 'members that never started cost quorum: they are removed before a rule waits for them'],
    ],
  },
  {
    tier: 'data and space',
    rows: [
      [judgeCorruption, 'until it is known whose data are right, no member is removed or given data (I9)'],
      [freeSpace, 'etcd accepts no writes: this precedes everything that can wait, and needs every voter healthy'],
      [enlargeVolumes, 'a volume grows under a running member and needs no quorum; the quota may follow it'],
      [
        keepRequesting,
        'a certificate that is due soon is no emergency: cert-manager may refuse without holding anything up',
      ],
    ],
  },
  {
    tier: 'quorum',
    rows: [
      [blameCertificates, 'a certificate that keeps members silent is named before their silence counts as death'],
      [reloadAuthorities, 'members that know only a lost CA are silent too, and are cured without a replacement'],
      [anotherDisk, 'disks from a backup are told apart from lost disks before the quorum is given up'],
      [awaitQuorum, 'all rules below need the member list: here it is known, or a person is asked'],
    ],
  },
  {
    tier: 'heal and join',
    rows: [
      [unstickPod, 'a pod costs nothing: it is recreated before its member is replaced'],
      [outliveVolume, 'a voter that will lose its disk is replaced while it still votes'],
      [heal, 'a dead voter is replaced above the gate: a cluster that lacks one is never healthy'],
      [
        dropInherited,
        'a dead member of a cluster that is taken over holds up every member that joins; as a person approved',
      ],
      [letRemovedGo, 'the objects of a member that a person removed wait for dead voters: they cost no quorum'],
      [
        dropLearner,
        'a learner that fails, or has no peer, holds up the next one: etcd accepts one learner at a time (I2)',
      ],
      [join, 'the new member ends the risk; above the gate, which waits for it'],
      [
        finishRolling,
        'a roll that was begun ends when all other members are healthy; above the gate, which the rolled member fails',
      ],
    ],
  },
  {
    tier: 'the gate',
    rows: [[gate, 'the rules below change a working cluster: every member must be a healthy voter (I1)']],
  },
  {
    tier: 'change',
    rows: [
      [knowDisks, 'only a healthy member proves that its disk is the right one; before a change moves it'],
      [
        raiseQuota,
        'what ends an outage precedes every change that waits for room, a window, a backup or a person; where a person asks for a stop, it does not speak',
      ],
      [
        takeOver,
        'members of another origin leave before anything else changes: until then a cluster is half in other hands',
      ],
      [
        keepAuth,
        'what a commit takes from a user waits for no window or backup of an upgrade; every member is healthy, and all have the same users afterwards (I19)',
      ],
      [backUpBeforeHibernation, 'a backup is taken of members that run'],
      [hibernate, 'members that are about to stop need no change first'],
      [shrinkFirst, 'members that will be removed are not restarted first'],
      [takeNames, 'volumes say what members let in before the first of them restarts with it'],
      [dropOldAuthorities, 'old CAs are dropped before a roll, so that members restart once for both'],
      [backUpFirst, 'a backup holds what the lower version wrote: it is there before the first member gets another'],
      [upgrade, 'the version before the configuration: every failure has one cause'],
      [rollConfiguration, 'after the version, and before new members start with all of it'],
      [renewAuthorities, 'new CAs need rolls of their own: after those that the spec asks for'],
      [keepIntermediate, 'an issuer signs the CA that stays: after a rotation, and it changes nothing that is trusted'],
      [lackSpace, 'what frees space stands above; no member joins a cluster that accepts no writes'],
      [grow, 'new members start with the version and configuration that all members have by now'],
      [shrink, 'while another change is under way, the number of members is corrected last'],
    ],
  },
  {
    tier: 'care',
    rows: [
      [defragment, 'a member answers no requests meanwhile: only when no change is left'],
      [deleteReplaced, 'retained data are deleted last, and only when every member is healthy'],
    ],
  },
  {
    tier: 'what is left',
    rows: [
      [
        nameWhatIsLeft,
        'every possible step is done, and nothing waits for this: all that a person must do is reported',
      ],
      [converged, 'no rule above has anything to do'],
    ],
  },
] as const satisfies readonly { readonly tier: string; readonly rows: readonly Row[] }[];

export const rules: readonly Rule[] = tiers.flatMap(({ rows }) => rows.map(([rule]) => rule));

/**
 * Decides one step. Pure: no clock, no environment, no I/O.
 *
 * Some rules are passed over: the API server refused their action, or they refuse because of one member only, and the
 * rules below do not depend on them (`stepping-aside.ts`). Rules that keep a cluster alive are reached whatever fails
 * elsewhere; no change of it begins.
 */
export function decide(observation: Observation): Decision {
  const situation = situate(observation);
  const passed: PassedOver[] = [];
  let belowTheGate = false;
  for (const rule of rules) {
    const isHeld = passed.some(({ holds }) => holds.includes(rule)) || (belowTheGate && !maySpeak(rule, passed));
    if (rule === gate) belowTheGate = true;
    const said = isHeld ? undefined : withoutUnlistedImage(rule(situation), situation);
    if (!said) continue;
    const stands = asItStands(rule, said, situation);
    const passing = passOver(rule, said, stands, situation);
    if (!passing) return withFourEyes(outlasted(concluded(rule, stands, passed, situation), situation), situation);
    passed.push(passing);
  }
  throw new Error('no rule spoke: the last one, converged, always does');
}
