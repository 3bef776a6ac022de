import { backupPolicy } from '../../../../../manifests/render/backup-before.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { isAsleep } from '../../../know/life.ts';
import { backupFinalizer } from '../../../know/marks.ts';
import type { Situation } from '../../../know/situation.ts';
import { awaitBackup, withoutQuorum } from '../../await-backup.ts';

const deletion = { before: 'deletion', what: 'the deletion' } as const;

/**
 * The last backup of a cluster that is being deleted: nothing of it ends before. The finalizer remembers that it is
 * owed, so that no later step asks for another.
 */
export function backUpLast(situation: Situation): Decision | undefined {
  const { cluster } = situation;
  if (!cluster.metadata.finalizers?.includes(backupFinalizer)) return undefined;
  const needless = whyNone(situation);
  const letGo = (message: string) =>
    act({ kind: 'set-finalizer', finalizer: 'backup', present: false }, 'LettingGo', message);
  if (needless !== undefined) return letGo(`${needless}, so the deletion goes on without a last backup`);
  const isThere = isBackedUp(situation);
  const stopped = isThere ? undefined : whyNoMember(situation);
  if (stopped !== undefined) {
    const isRequired = backupPolicy(cluster, 'deletion') === 'Required';
    return isRequired
      ? withoutQuorum(stopped, situation, deletion)
      : letGo(`${stopped}, so the deletion goes on without a last backup`);
  }
  return (
    awaitBackup(situation, deletion) ??
    letGo(isThere ? 'the last backup is Ready' : 'the deletion goes on without a last backup')
  );
}

/** Where there is nothing to back up, or no place for it, and no person could change that. */
function whyNone({ cluster, life, awaitedBackup, slots }: Situation): string | undefined {
  if (backupPolicy(cluster, 'deletion') === 'Never') return 'the spec asks for none';
  if (awaitedBackup?.kind === 'namespace-ends') return 'its namespace is being deleted, where nothing can be made';
  if (life.stage === 'unborn' || life.stage === 'birth') return 'the cluster has not served yet';
  if (slots.every(({ volume }) => volume === undefined)) return 'no volume is left';
  return undefined;
}

function isBackedUp({ awaitedBackup }: Situation): boolean {
  return awaitedBackup?.kind === 'known' && awaitedBackup.state === 'good';
}

/** A snapshot takes members that run; nothing starts one again in a cluster that is being deleted. */
function whyNoMember({ slots }: Situation): string | undefined {
  if (slots.some(isAsleep)) return 'the members hibernate';
  if (slots.every(({ peer }) => !peer?.current || peer.leaving)) return 'the members were deleted with it';
  return undefined;
}
