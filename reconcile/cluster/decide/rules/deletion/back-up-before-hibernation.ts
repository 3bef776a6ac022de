import type { Decision } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';
import { awaitBackup } from '../../await-backup.ts';
import { waitForRoom } from '../../wait-for-room.ts';

/** The spec asks for no members: a backup of what they hold, before they stop. */
export function backUpBeforeHibernation(situation: Situation): Decision | undefined {
  const { awaitedBackup, effective, life } = situation;
  if (awaitedBackup?.before !== 'hibernation' || effective.replicas > 0 || life.stage !== 'born') return undefined;
  const crowded = waitForRoom(situation);
  if (crowded) return crowded;
  return awaitBackup(situation, { before: 'hibernation', what: 'the hibernation' });
}
