import { backupPolicy } from '../../../../../manifests/render/backup-before.ts';
import { doesAnyRun, hibernationBackupNow } from '../../../know/backups/hibernation-backup.ts';
import { act, type Decision, wait } from '../../../know/decision.ts';
import { isAsleep, isFromRecovery, recordOf } from '../../../know/life.ts';
import { backupFinalizer } from '../../../know/marks.ts';
import type { Slot } from '../../../know/observation.ts';
import { stuckPod } from '../../../know/pods/stuck.ts';
import type { Situation } from '../../../know/situation.ts';
import { awaitBackup, withoutMembers } from '../../await-backup.ts';
import { stopMembers } from './hibernate.ts';

const deletion = { before: 'deletion', what: 'the deletion' } as const;

/**
 * The last backup of a cluster that is being deleted: nothing of it ends before. The finalizer remembers that it is
 * owed, so that no later step asks for another.
 */
export function backUpLast(situation: Situation): Decision | undefined {
  const { cluster } = situation;
  if (!cluster.metadata.finalizers?.includes(backupFinalizer)) return undefined;
  const needless = whyNone(situation);
  if (needless !== undefined) return letGo(`${needless}, so the deletion goes on without a last backup`);
  const { hibernationBackup } = situation;
  if (hibernationBackup?.kind === 'fit') return lookFor(hibernationBackup.name, situation);
  const made = lastBackup(situation);
  const asleep = made === undefined ? ofSleep(situation) : undefined;
  if (asleep) return asleep;
  const stopped = made === undefined ? whyNoMember(situation) : undefined;
  if (stopped !== undefined) return without(stopped, situation);
  return (
    awaitBackup(situation, { ...deletion, othersServe: situation.slots.some(servesYet) }) ??
    letGo(
      made === undefined
        ? 'the deletion goes on without a last backup'
        : `the last backup, EtcdBackup ${made}, is Ready`,
    )
  );
}

function letGo(message: string): Decision {
  return act({ kind: 'set-finalizer', finalizer: 'backup', present: false }, 'LettingGo', message);
}

function without(stopped: string, situation: Situation): Decision {
  return backupPolicy(situation.cluster, 'deletion') === 'Required'
    ? withoutMembers(stopped, situation, deletion)
    : letGo(`${stopped}, so the deletion goes on without a last backup`);
}

/**
 * All members stopped after that backup, and none has run since: its volumes are all there is besides. Whether it is
 * still in its store, as it was, is not known before another Job has read it.
 */
function lookFor(name: string, situation: Situation): Decision {
  const held = awaitBackup(situation, { ...deletion, looksFor: name });
  if (held) return held;
  const by = lastBackup(situation);
  if (by === undefined) return without(`what EtcdBackup ${name} stored was not found`, situation);
  return letGo(
    `EtcdBackup ${name} is the last backup: the members stopped after it, to hibernate, none has run since, and EtcdBackup ${by} found what it stored`,
  );
}

/**
 * The members hibernate, or were about to: what was written last is in the backup that they stopped after, where every
 * volume says so. While a quorum runs yet, another one is taken of it.
 */
function ofSleep(situation: Situation): Decision | undefined {
  const { slots, hibernationBackup: found, membership, cluster } = situation;
  if (!slots.some(isAsleep)) return undefined;
  if (doesAnyRun(slots)) {
    if (membership.kind === 'known') return undefined;
    const running = slots.some(({ statefulSet }) => statefulSet?.current && !statefulSet.leaving);
    if (running && cluster.spec.replicas === 0 && hibernationBackupNow(situation)) return stopMembers(situation);
    const still = { on: 'change', of: 'pods' } as const;
    if (!running) return stuckPod(slots, situation) ?? wait('MembersStopping', 'the members are stopping', still);
  }
  const why =
    found?.kind === 'unfit'
      ? `EtcdBackup ${found.name}, after which they stopped, is not the last backup: ${found.why}`
      : 'and their volumes name no EtcdBackup that was taken just before all of them stopped';
  return without(`the members hibernate${found ? ', and ' : ', '}${why}`, situation);
}

/** Where there is nothing to back up, or no place for it, and no person could change that. */
function whyNone(situation: Situation): string | undefined {
  const { cluster, awaitedBackup, slots } = situation;
  if (backupPolicy(cluster, 'deletion') === 'Never') return 'the spec asks for none';
  if (awaitedBackup?.kind === 'namespace-ends') return 'its namespace is being deleted, where nothing can be made';
  if (isUnserved(situation)) return 'the cluster has not served yet';
  if (slots.every(({ volume }) => volume === undefined)) return 'no volume is left';
  return undefined;
}

/**
 * By its volumes, not by its stage alone: while a rollback hands over, the members of the cluster that is given up
 * serve until their volumes are marked.
 */
function isUnserved({ life, slots }: Situation): boolean {
  if (life.stage !== 'unborn' && life.stage !== 'birth') return false;
  const strays = life.stage === 'birth' ? life.strays : [];
  return !slots.some((slot) => !strays.includes(slot) && holdsData(slot));
}

/** A member was sealed on it, and none took its place in a list, a recovery or a rollback; or a recovery goes on. */
function holdsData(slot: Slot): boolean {
  if (isFromRecovery(slot)) return true;
  const state = recordOf(slot)?.state;
  return slot.volume?.unmarked === true || state === 'sealed' || state === 'hibernating' || state === 'releasing';
}

/** A rollback gives it up, and has not stopped it: it is asked for nothing any more, and serves. */
function servesYet({ volume, pod }: Slot): boolean {
  return volume?.unmarked === true && pod?.ready === true && !pod.leaving;
}

/** Taken for the deletion itself. */
function lastBackup({ awaitedBackup }: Situation): string | undefined {
  return awaitedBackup?.kind === 'known' && awaitedBackup.state === 'good' ? awaitedBackup.name : undefined;
}

/** A snapshot takes members that run; nothing starts one again in a cluster that is being deleted. */
function whyNoMember({ slots }: Situation): string | undefined {
  if (slots.every(({ peer }) => !peer?.current || peer.leaving)) return 'the members were deleted with it';
  return undefined;
}
