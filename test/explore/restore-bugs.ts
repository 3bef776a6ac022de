import { annotations } from '../../manifests/render/names.ts';
import type { Attempt } from '../../reconcile/cluster/act/requests/recovery.ts';
import type { VolumeRead } from '../../reconcile/cluster/act/requests/volumes.ts';
import { beBorn } from '../../reconcile/cluster/decide/rules/birth/be-born.ts';
import { beginFromSnapshot } from '../../reconcile/cluster/decide/rules/birth/begin-from-snapshot.ts';
import { finishDeletion } from '../../reconcile/cluster/decide/rules/deletion/finish-deletion.ts';
import { stop } from '../../reconcile/cluster/decide/rules/recovery/recover-quorum.ts';
import { rollBack } from '../../reconcile/cluster/decide/rules/recovery/roll-back.ts';
import { aspirantsIn, wantedRollback } from '../../reconcile/cluster/know/backups/rollback.ts';
import { type Decision, refuse, wait } from '../../reconcile/cluster/know/decision.ts';
import { recordOf } from '../../reconcile/cluster/know/life.ts';
import type { NamedBackup, Observation, Slot } from '../../reconcile/cluster/know/observation.ts';
import type { Situation } from '../../reconcile/cluster/know/situation.ts';
import type { Program, Request } from '../../reconcile/requests/program.ts';
import type { Code } from './model/code.ts';
import { lacking } from './model/state.ts';
import { type Bug, edited, instead, passedOn, unchecked } from './seeding.ts';

/** Bugs in how a cluster is born from a snapshot. */
export const restoreBugs: readonly Bug[] = [
  {
    name: 'restores-over-data',
    what: 'a Job does not look whether there are data already, and its number is not compared',
    violates: 'I5',
    scenario: 'restore to 1, and its Job is lost',
    faults: { late: 1, jobPod: 1 },
    seed: (code) => ({ ...code, keepsData: false }),
  },
  {
    name: 'forgets-the-snapshot',
    what: 'a birth takes no notice of the snapshot that the spec names',
    violates: 'I11',
    scenario: 'restore to 1',
    faults: {},
    seed: (code) => instead(code, 'beBorn', withoutSnapshot),
  },
  {
    name: 'deletes-with-a-rollback',
    what: 'a cluster that a rollback is about to end is deleted without its last backup, as its stage is a birth',
    violates: 'I12',
    scenario: 'roll back 1, and delete it after its last backup',
    faults: {},
    seed: (code) =>
      instead(code, 'finishDeletion', ({ slots, ...situation }) =>
        finishDeletion({ ...situation, slots: slots.map(asMarked) }),
      ),
  },
  {
    name: 'advises-to-delete',
    what: 'a rollback whose volume is lost tells to delete the EtcdCluster with its PVCs, while its members serve',
    violates: 'I18',
    scenario: 'roll back 1, and disks are lost',
    faults: { lost: 1 },
    seed: (code) =>
      instead(code, 'rollBack', (situation) => {
        const decision = rollBack(situation);
        const why = 'the volume is lost; no client was admitted yet';
        const cure = 'delete the EtcdCluster with its PersistentVolumeClaims, and create it again';
        return decision?.reason === 'CallingOffRollback' ? refuse('RecoveryVolumeLost', why, cure) : decision;
      }),
  },
  {
    name: 'never-restores-again',
    what: 'a Job of a restore that was lost is waited for',
    violates: 'convergence',
    scenario: 'restore to 1',
    faults: { kill: 1 },
    seed: (code) =>
      instead(code, 'beginFromSnapshot', (situation) => {
        const decision = beginFromSnapshot(situation);
        return decision?.reason === 'RepeatingRestore' ? wait('AwaitingRestore', decision.message) : decision;
      }),
  },
  {
    name: 'starts-beside',
    what: 'a cluster that was rolled back starts before the one that is given up has ended',
    violates: 'I11',
    scenario: 'roll back 1',
    faults: {},
    seed: (code) => instead(code, 'beginFromSnapshot', withoutHandOver),
  },
  {
    name: 'stops-first',
    what: 'the members are stopped before the snapshot is restored',
    violates: 'I11',
    scenario: 'roll back 1',
    faults: {},
    seed: (code) => unchecked(instead(code, 'rollBack', stoppingFirst), 'stop-members', { readVolume: asRestored }),
  },
  {
    name: 'hands-over-untried',
    what: 'a Job has no trial of what it restores, and a cluster is given up for it',
    violates: 'I11',
    scenario: 'roll back 1',
    faults: {},
    seed: (code) =>
      unchecked(
        edited(instead(code, 'rollBack', takingTheUntried), 'restore-snapshot', withoutTrial),
        'conclude-restore',
        {
          readAttempt: asTried,
        },
      ),
  },
  {
    name: 'takes-others-data',
    what: 'an approval does not name the etcd cluster whose data an EtcdBackup holds, though it is another one',
    violates: 'I11',
    scenario: 'roll back 1 to an EtcdBackup of another etcd cluster',
    faults: {},
    seed: (code) => seeing(code, ofThisCluster),
  },
  {
    name: 'goes-back-unproven',
    what: 'a rollback begins to an EtcdBackup that is not Ready',
    violates: 'I11',
    scenario: 'roll back 1 to an EtcdBackup, which is not Ready yet',
    faults: {},
    seed: (code) => seeing(code, asProven),
  },
  {
    name: 'restores-another',
    what: 'a Job restores another snapshot than was approved, and a cluster is given up for it',
    violates: 'I11',
    scenario: 'roll back 1 to an EtcdBackup',
    faults: {},
    seed: (code) => edited(instead(code, 'rollBack', takingAnyJob), 'restore-snapshot', restoringAnother),
  },
  {
    name: 'rolls-back-unasked',
    what: 'a rollback is begun whatever was approved',
    violates: 'I11',
    scenario: 'roll back 1',
    faults: {},
    seed: (code) => instead(code, 'rollBack', withAnyApproval),
  },
];

/** The same rules, which see an EtcdBackup otherwise. */
function seeing(code: Code, change: (view: NamedBackup, observation: Observation) => NamedBackup): Code {
  return {
    ...code,
    decide: (observation) => {
      const { namedBackups } = observation;
      if (!namedBackups) return code.decide(observation);
      return code.decide({ ...observation, namedBackups: namedBackups.map((view) => change(view, observation)) });
    },
  };
}

function ofThisCluster(view: NamedBackup, { cluster }: Observation): NamedBackup {
  const clusterId = cluster.spec.rollback?.clusterID ?? '';
  return view.kind === 'fit' ? { ...view, backup: { ...view.backup, clusterId } } : view;
}

function asProven({ name }: NamedBackup, { cluster }: Observation): NamedBackup {
  const clusterId = cluster.spec.rollback?.clusterID ?? '';
  const snapshot = { object: 'gs://backups/orders/a.db' };
  return { name, kind: 'fit', backup: { name, uid: 'any', clusterId, snapshot } };
}

function restoringAnother({ kind, ask }: Request): Program<unknown> | undefined {
  return kind === 'createRestoreJob' ? passedOn({ kind, ask: { ...(ask as object), id: 'another' } }) : undefined;
}

function withoutTrial({ kind, ask }: Request): Program<unknown> | undefined {
  return kind === 'createRestoreJob' ? passedOn({ kind, ask: { ...(ask as object), trial: undefined } }) : undefined;
}

function asTried({ job, ...attempt }: Attempt): Attempt {
  return { ...attempt, ...(job && { job: { ...job, trial: true } }) };
}

function takingTheUntried(situation: Situation): Decision | undefined {
  const { recovery } = situation;
  if (recovery?.kind !== 'known' || !recovery.job) return rollBack(situation);
  return rollBack({ ...situation, recovery: { ...recovery, job: { ...recovery.job, trial: true } } });
}

/** Whatever it restores. */
function takingAnyJob(situation: Situation): Decision | undefined {
  const { recovery, slots } = situation;
  const { id, attempt } = aspirantsIn(slots).flatMap((slot) => recordOf(slot)?.recovery ?? [])[0] ?? {};
  if (recovery?.kind !== 'known' || !recovery.job) return rollBack(situation);
  return rollBack({ ...situation, recovery: { ...recovery, job: { ...recovery.job, attempt: `${id}/${attempt}` } } });
}

/** Its member starts as soon as its Job is done. */
function withoutHandOver(situation: Situation): Decision | undefined {
  const decision = beginFromSnapshot(situation);
  const isHandOver = ['GivingUpMembers', 'StoppingMembers', 'FencingMembers', 'DroppingPeers'];
  return isHandOver.includes(decision?.reason ?? '') ? undefined : decision;
}

function stoppingFirst(situation: Situation): Decision | undefined {
  const [chosen] = aspirantsIn(situation.slots);
  const former = situation.slots.filter((slot) => slot !== chosen);
  return (chosen && stop(chosen, former, situation)) ?? rollBack(situation);
}

function asRestored(read: VolumeRead | undefined): VolumeRead | undefined {
  return read && { ...read, record: { ...read.record, state: 'restored', trial: 'passed' } };
}

function withAnyApproval(situation: Situation): Decision | undefined {
  const { cluster } = situation;
  const wanted = wantedRollback(situation);
  if (!wanted) return rollBack(situation);
  const metadata = { ...cluster.metadata, annotations: { [annotations.rollBack]: wanted.approval } };
  return rollBack({ ...situation, cluster: { ...cluster, metadata } });
}

function withoutSnapshot(situation: Situation): Decision | undefined {
  const { cluster } = situation;
  return beBorn({ ...situation, cluster: { ...cluster, spec: lacking(cluster.spec, 'bootstrap') } });
}

/** Its PVC says that it was given up. */
function asMarked(slot: Slot): Slot {
  return slot.volume ? { ...slot, volume: lacking(slot.volume, 'unmarked') } : slot;
}
