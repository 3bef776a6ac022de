import type { MemberSeen } from '../../reconcile/cluster/act/requests/host.ts';
import { backUpBeforeHibernation } from '../../reconcile/cluster/decide/rules/deletion/back-up-before-hibernation.ts';
import { finishDeletion } from '../../reconcile/cluster/decide/rules/deletion/finish-deletion.ts';
import { backUpFirst } from '../../reconcile/cluster/decide/rules/rolling/back-up-first.ts';
import { cureConfiguration } from '../../reconcile/cluster/decide/rules/rolling/cure-configuration.ts';
import { outliveVolume } from '../../reconcile/cluster/decide/rules/volumes/outlive-volume.ts';
import type { ActionOf } from '../../reconcile/cluster/know/action.ts';
import type { Situation } from '../../reconcile/cluster/know/situation.ts';
import { type Bug, edited, instead, unchecked, undone } from './seeding.ts';

/** Bugs in what a cluster waits for before it changes or goes. */
export const backupBugs: readonly Bug[] = [
  {
    name: 'upgrades-unsaved',
    what: 'a member is upgraded when the backup was asked for, and is not there yet',
    violates: 'I12',
    scenario: 'back up, and upgrade 1',
    faults: {},
    seed: (code) => instead(code, 'backUpFirst', (situation) => backUpFirst(believing(situation))),
  },
  {
    name: 'saves-too-soon',
    what: 'the backup before a minor is taken while members are still given the one below',
    violates: 'I12',
    scenario: 'back up before each of two minors',
    faults: { death: 1 },
    seed: (code) => instead(code, 'backUpFirst', (situation) => backUpFirst(settled(situation))),
  },
  {
    name: 'outlives-by-upgrading',
    what: 'the replacement of a member whose PVC goes gets the version that waits for a backup',
    violates: 'I12',
    scenario: 'back up, and upgrade 3, of which one is lost',
    faults: { claim: 1 },
    seed: (code) => instead(code, 'outliveVolume', (situation) => outliveVolume(unheld(situation))),
  },
  {
    name: 'cures-by-upgrading',
    what: 'a member that is down is cured with the version that waits for a backup',
    violates: 'I12',
    scenario: 'back up, and patch 3, of which one is lost',
    faults: { crash: 1 },
    seed: (code) => instead(code, 'cureConfiguration', (situation) => cureConfiguration(unheld(situation))),
  },
  {
    name: 'deletes-unsaved',
    what: 'a cluster is deleted when its last backup was asked for, and is not there yet',
    violates: 'I12',
    scenario: 'back up, and delete 1',
    faults: {},
    seed: (code) => instead(code, 'finishDeletion', (situation) => finishDeletion(believing(situation))),
  },
  {
    name: 'hibernates-unsaved',
    what: 'members stop when the backup of what they hold has failed',
    violates: 'I12',
    scenario: 'back up, and hibernate, in misfortune',
    faults: { backupFails: 1 },
    seed: (code) =>
      instead(code, 'backUpBeforeHibernation', (situation) =>
        situation.awaitedBackup?.kind === 'known' && situation.awaitedBackup.state === 'failed'
          ? undefined
          : backUpBeforeHibernation(situation),
      ),
  },
  {
    name: 'deletes-after-waking',
    what: 'a cluster is deleted on the backup of an earlier sleep: its volumes did not forget that when it woke',
    violates: 'I12',
    scenario: 'back up, and hibernate, and delete',
    faults: {},
    seed: (code) => instead(code, 'finishDeletion', (situation) => finishDeletion(rememberingSleep(situation))),
  },
  {
    name: 'sleeps-unbarred',
    what: 'an etcd may start again after it was asked whether it has more than the backup of a sleep',
    violates: 'I12',
    scenario: 'back up, and hibernate, and delete',
    faults: { crash: 1 },
    seed: (code) =>
      edited(code, 'hibernate-members', ({ kind }) => (kind === 'deleteConfigMap' ? undone() : undefined)),
  },
  {
    name: 'sleeps-unasked',
    what: 'members stop on a backup, and none is asked just before whether it has more',
    violates: 'I12',
    scenario: 'back up, and hibernate, and delete',
    faults: { crash: 1 },
    seed: (code) => unchecked(code, 'hibernate-members', { askMembers: (_: never, action: never) => asBefore(action) }),
  },
  {
    name: 'deletes-unlooked',
    what: 'a cluster that sleeps is deleted on its backup, and nothing looks whether that is still in its store',
    violates: 'I12',
    scenario: 'back up, and hibernate, and delete',
    faults: {},
    seed: (code) =>
      instead(code, 'finishDeletion', (situation) =>
        finishDeletion(situation.hibernationBackup?.kind === 'fit' ? found(situation) : situation),
      ),
  },
  {
    name: 'never-backs-up-again',
    what: 'an upgrade begins on a backup that was taken long ago',
    violates: 'I12',
    scenario: 'back up, and upgrade 1, in misfortune',
    faults: { backupAges: 1 },
    seed: (code) => instead(code, 'backUpFirst', (situation) => backUpFirst(withoutAge(situation))),
  },
];

/** Nothing holds a version. */
function unheld({ awaitedBackup: _, ...situation }: Situation): Situation {
  return situation;
}

function settled(situation: Situation): Situation {
  const { effective } = situation;
  if (effective.pending?.kind !== 'settling') return situation;
  return { ...situation, effective: { ...effective, pending: { ...effective.pending, kind: 'unnoted' } } };
}

/** Whatever has become of it, it counts as Ready. */
function believing(situation: Situation): Situation {
  const { awaitedBackup } = situation;
  return awaitedBackup?.kind === 'known'
    ? { ...situation, awaitedBackup: { ...awaitedBackup, state: 'good' } }
    : situation;
}

function withoutAge(situation: Situation): Situation {
  const { awaitedBackup } = situation;
  if (awaitedBackup?.kind !== 'known') return situation;
  const { tooOld: _, ...rest } = awaitedBackup;
  return { ...situation, awaitedBackup: rest };
}

/** All answer, and have nothing. */
function asBefore({ statefulSets }: ActionOf<'hibernate-members'>): readonly MemberSeen[] {
  return statefulSets.map(({ name }) => ({ name, memberId: '1', clusterId: '1', leader: '0', revision: '0' }));
}

/** Nothing has looked. */
function found(situation: Situation): Situation {
  const known = { kind: 'known', before: 'deletion', state: 'good', message: 'as it is' } as const;
  return { ...situation, awaitedBackup: { ...known, name: 'orders-before-deletion', askedAt: situation.at } };
}

/** Whatever runs by now. */
function rememberingSleep(situation: Situation): Situation {
  const slots = situation.slots.map((slot) => {
    const { pod: _, statefulSet: __, volume, ...rest } = slot;
    const record = volume?.record;
    if (record?.kind !== 'valid' || record.record.state !== 'sealed') return slot;
    const asleep = { kind: 'valid', record: { ...record.record, state: 'hibernating' } } as const;
    return { ...rest, volume: { ...volume, record: asleep } } as typeof slot;
  });
  const name = 'orders-before-hibernation';
  const backup = { name, uid: `uid-of-${name}`, clusterId: 'c-token1cluster-1', snapshot: { object: 'gs://b/a.db' } };
  return found({ ...situation, slots, hibernationBackup: { name, kind: 'fit', backup } });
}
