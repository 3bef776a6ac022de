import type { Mutant } from '../mutant.ts';

const awaits = 'test/unit/cluster/back-up-first.test.ts';
const last = 'test/unit/cluster/world/final-backup.test.ts';
const slept = 'test/unit/cluster/world/hibernation-backup.test.ts';
const hibernationBackup = 'reconcile/cluster/know/backups/hibernation-backup.ts';
const asks = 'test/unit/cluster/requests/backup.test.ts';
const rule = 'reconcile/cluster/decide/await-backup.ts';
const beforeUpgrade = 'reconcile/cluster/decide/rules/rolling/back-up-first.ts';
const beforeDeletion = 'reconcile/cluster/decide/rules/deletion/back-up-last.ts';
const beforeSleep = 'reconcile/cluster/decide/rules/deletion/back-up-before-hibernation.ts';
const observed = 'reconcile/cluster/observe/read-awaited-backup.ts';
const ahead = 'reconcile/cluster/know/backups/ahead.ts';
const begun = 'reconcile/cluster/know/versions/begun.ts';
const heldVersion = 'reconcile/cluster/decide/held-version.ts';
const held = 'test/unit/cluster/held-version.test.ts';

/** What an upgrade, a hibernation and the deletion wait for (I12). */
export const ofAwaitedBackups: readonly Mutant[] = [
  {
    file: rule,
    from: 'return isRequired ? required(view, situation, awaiting) : bestEffort(view, situation, awaiting);',
    to: 'return bestEffort(view, situation, awaiting);',
    without: 'an upgrade begins though the backup that it requires has failed (I12)',
    killers: [awaits],
  },
  {
    file: rule,
    from: 'if (!isRequired) return undefined;',
    to: 'if (view) return undefined;',
    without: 'an upgrade begins though no backup can be read (I12)',
    killers: [awaits],
  },
  {
    file: rule,
    from: 'if (view.tooOld && isToBeTakenAgain',
    to: "if (view.tooOld && view.state === 'foreign' && isToBeTakenAgain",
    without: 'an upgrade begins on a backup that was taken long ago (I12)',
    killers: [awaits],
  },
  {
    file: rule,
    from: "return (looksFor !== undefined || othersServe || membership.kind === 'known') && begins();",
    to: 'return (looksFor !== undefined || membership !== undefined) && begins();',
    without: 'a backup is asked for again and again while no quorum serves',
    killers: [awaits],
  },
  {
    file: rule,
    from: "case 'leaving':\n      return awaited(view, awaiting);",
    to: "case 'leaving':\n      return undefined;",
    without: 'an upgrade begins while its backup is being deleted (I12)',
    killers: [awaits],
  },
  {
    file: rule,
    from: 'return isAwaited && !isLate(view, situation) ?',
    to: 'return isAwaited ?',
    without: 'a backup that is only best effort holds an upgrade for ever',
    killers: [awaits],
  },
  {
    file: rule,
    from: 'if (entry && !isRequired) return undefined;',
    to: 'if (entry) return undefined;',
    without: 'an upgrade begins though the API server refuses the backup that it requires (I12)',
    killers: [awaits],
  },
  {
    file: beforeUpgrade,
    from: ' || target !== version ||',
    to: ' ||',
    without: 'a backup is asked for before a version that is refused',
    killers: [awaits],
  },
  {
    file: beforeUpgrade,
    from: "const begins = () => upgrade(situation)?.kind === 'act';",
    to: 'const begins = () => upgrade !== undefined;',
    without: 'a backup is taken again and again while the upgrade waits for something else',
    killers: [awaits],
  },
  {
    file: ahead,
    from: 'return !hasBegun(version, slots) && givenTo',
    to: 'return hasBegun !== undefined && givenTo',
    without: 'a backup is asked for again when the upgrade has begun, and members differ meanwhile',
    killers: [awaits],
  },
  {
    file: begun,
    from: 'if (record?.rollsTo === undefined || hasDeparted(slot)) return false;',
    to: 'if (record?.nextVersion === undefined || hasDeparted(slot)) return false;',
    without: 'a member that was cured on a version counts as the beginning of the upgrade (I12)',
    killers: [awaits, held],
  },
  {
    file: heldVersion,
    from: 'return isTooOld || awaitBackup(situation, awaiting) !== undefined || waitToUpgrade(situation) !== undefined;',
    to: 'return waitToUpgrade(situation) !== undefined;',
    without: 'a member that is cured or new gets the version that waits for its backup (I12)',
    killers: [held],
  },
  {
    file: heldVersion,
    from: 'return isTooOld || awaitBackup',
    to: 'return awaitBackup',
    without: 'a member gets a version whose backup is too old while no list is known (I12)',
    killers: [held],
  },
  {
    file: heldVersion,
    from: ' || waitToUpgrade(situation) !== undefined;',
    to: ';',
    without: 'a member that is lost leaves a mixed cluster behind a shut window',
    killers: [held],
  },
  {
    file: heldVersion,
    from: '  if (sealed.some(isDownOnItsConfiguration)) return undefined;\n',
    to: '',
    without: 'the version that ends an outage waits for a backup (I15)',
    killers: [held],
  },
  {
    file: 'reconcile/cluster/decide/rules/rolling/upgrade.ts',
    from: 'goesBack && isKept(version, situation)',
    to: 'goesBack && !isKept(version, situation)',
    without: 'the revert of what has not begun waits for a window',
    killers: [held],
  },
  {
    file: ahead,
    from: "slots.every((slot) => recordOf(slot)?.state !== 'hibernating')",
    to: 'slots.every((slot) => recordOf(slot)?.state !== undefined)',
    without: 'a backup is asked for when members have stopped, which none can be taken of',
    killers: [awaits],
  },
  {
    file: ahead,
    from: "return metadata.finalizers?.includes(backupFinalizer) ? 'deletion' : undefined;",
    to: "return 'deletion';",
    without: 'EtcdBackups of a cluster are read when its last backup is not owed any more',
    killers: [awaits],
  },
  {
    file: 'reconcile/cluster/act/requests/backup.ts',
    from: 'if (name !== backupBeforeName(cluster, wish)) throw',
    to: 'if (!name) throw',
    without: 'a backup is asked for that the spec does not want any more',
    killers: [asks],
  },
  {
    file: 'reconcile/cluster/act/requests/backup.ts',
    from: 'const ours = (found: EtcdBackup) => isBackupBefore(found, cluster, wish);',
    to: 'const ours = (found: EtcdBackup) => found !== undefined && isBackupBefore !== undefined;',
    without: 'an EtcdBackup that another made is taken for the one that is asked for (I12)',
    killers: [asks],
  },
  {
    file: observed,
    from: "return isTrue(status, 'Ready') ? 'good' : 'failed';",
    to: "return 'good';",
    without: 'a backup that failed counts as good (I12)',
    killers: [awaits, last],
  },
  {
    file: observed,
    from: "isBackupBefore(backup, cluster, wish) ? stateOf(backup) : 'foreign'",
    to: 'stateOf(backup)',
    without: 'an EtcdBackup of another wish counts (I12)',
    killers: [awaits],
  },
  {
    file: observed,
    from: "if (!isTrue(status, 'Ready') && !isTriedAgain) return false;",
    to: '',
    without: 'a required backup that failed is taken again before a person has looked',
    killers: [awaits],
  },
  {
    file: observed,
    from: "if (before === 'deletion' && (await isEnding",
    to: "if (before === 'upgrade' && (await isEnding",
    without: 'a namespace that is being deleted waits for a backup that can’t be made in it',
    killers: [last],
  },
  {
    file: beforeDeletion,
    from: 'return !slots.some((slot) => !strays.includes(slot) && holdsData(slot));',
    to: 'return strays.length >= 0;',
    without: 'a cluster that a rollback is about to end is deleted without its last backup (I12)',
    killers: [last],
  },
  {
    file: beforeDeletion,
    from: 'othersServe: situation.slots.some(servesYet)',
    to: 'othersServe: false',
    without: 'the last backup of a cluster that a rollback is about to end counts as impossible while it serves',
    killers: [last],
  },
  {
    file: beforeDeletion,
    from: "if (life.stage !== 'unborn' && life.stage !== 'birth') return false;",
    to: "if (life.stage === 'unclear') return false;",
    without: 'a cluster that served is deleted without its last backup (I12)',
    killers: [last],
  },
  {
    file: beforeDeletion,
    from: "return backupPolicy(situation.cluster, 'deletion') === 'Required'",
    to: "return backupPolicy(situation.cluster, 'deletion') === 'Never'",
    without: 'a cluster that hibernates is deleted without the backup that is required (I12)',
    killers: [last],
  },
  {
    file: beforeDeletion,
    from: 'if (!slots.some(isAsleep)) return undefined;',
    to: 'if (slots.length > 0) return undefined;',
    without: 'the deletion of a cluster that hibernates waits for a backup without naming a cure',
    killers: [slept],
  },
  {
    file: beforeDeletion,
    from: "if (hibernationBackup?.kind === 'fit') return",
    to: 'if (hibernationBackup) return',
    without:
      'the deletion of a cluster that sleeps does not say why what it was put to sleep on is not its last backup',
    killers: [slept],
  },
  {
    file: beforeDeletion,
    from: '  const held = awaitBackup(situation, { ...deletion, looksFor: name });\n  if (held) return held;\n',
    to: '',
    without: 'a cluster that sleeps is deleted before its backup was looked for in the store (I12)',
    killers: [slept],
  },
  {
    file: beforeDeletion,
    from: 'if (by === undefined) return without(',
    to: 'if (name === by) return without(',
    without: 'a look that found nothing counts as one that did',
    killers: [slept],
  },
  {
    file: 'reconcile/cluster/decide/await-backup.ts',
    from: "return (looksFor !== undefined || othersServe || membership.kind === 'known') && begins();",
    to: "return membership.kind === 'known' && looksFor !== '' && begins();",
    without: 'a cluster that sleeps is deleted on a look of hours ago (I12)',
    killers: [slept],
  },
  {
    file: 'reconcile/cluster/know/backups/ahead.ts',
    from: 'return isStored ? { before, existing: hibernationBackup.backup.snapshot } : { before };',
    to: 'return { before };',
    without: 'a cluster that sleeps is deleted on a backup that nothing looked for (I12)',
    killers: [slept],
  },
  {
    file: hibernationBackup,
    from: 'const isAtRest = ours.every(isAsleep) && !doesAnyRun(slots);',
    to: 'const isAtRest = ours.every(isAsleep);',
    without: 'a cluster whose members run yet is deleted on the backup of their hibernation (I12)',
    killers: [slept],
  },
  {
    file: hibernationBackup,
    from: 'return one && at.getTime() - Date.parse(one.endedAt) <= parseDuration(awaitedBackupFresh) ? one : undefined;',
    to: 'return one && at.getTime() > 0 && parseDuration(awaitedBackupFresh) > 0 ? one : undefined;',
    without: 'a hibernation that is finished days later remembers its backup as that of what was written since (I12)',
    killers: [slept],
  },
  {
    file: hibernationBackup,
    from: 'return others.every((one) => isDeepStrictEqual(one, first)) ? first : undefined;',
    to: 'return others.every((one) => one !== first || isDeepStrictEqual(one, first)) ? first : undefined;',
    without: 'a backup counts that only some volumes name (I12)',
    killers: [slept],
  },
  {
    file: 'reconcile/cluster/know/backups/fitness.ts',
    from: 'if (asked.uid !== undefined && metadata.uid !== asked.uid)',
    to: 'if (asked.uid === "")',
    without: 'an EtcdBackup that was made anew under the name of the one that members slept on counts (I12)',
    killers: [slept],
  },
  {
    file: 'reconcile/cluster/know/backups/fitness.ts',
    from: 'if (asked.clusterId !== undefined && clusterId !== asked.clusterId)',
    to: 'if (asked.clusterId === "")',
    without: 'a backup of another etcd cluster counts as the last one (I12)',
    killers: [slept],
  },
  {
    file: 'reconcile/cluster/act/actions/deletion/hibernate-members.ts',
    from: 'record: { ...rest, state: to, ...(hibernationBackup && { hibernationBackup }) }',
    to: 'record: { ...rest, ...(former && { hibernationBackup: former }), state: to, ...(hibernationBackup && { hibernationBackup }) }',
    without: 'volumes that wake remember the backup that they slept on',
    killers: [slept],
  },
  {
    file: 'reconcile/cluster/decide/rules/deletion/finish-deletion.ts',
    from: 'if (owed) return owed;',
    to: "if (owed && owed.kind !== 'wait') return owed;",
    without: 'a cluster is deleted while its last backup is under way (I12)',
    killers: [last],
  },
  {
    file: 'reconcile/cluster/decide/rules/deletion/hold-finalizer.ts',
    from: "const backsUp = backupPolicy(cluster, 'deletion') !== 'Never';",
    to: "const backsUp = backupPolicy(cluster, 'deletion') === 'Never' && has(backupFinalizer);",
    without: 'nothing remembers that a last backup is owed (I12)',
    killers: [last],
  },
  {
    file: beforeSleep,
    from: "return awaitBackup(situation, { before: 'hibernation', what: 'the hibernation' });",
    to: 'return awaitBackup === undefined ? waitForRoom(situation) : undefined;',
    without: 'members stop before the backup of what they hold (I12)',
    killers: [last],
  },
];
