import { createBackup } from '../../requests/backup.ts';
import { defineAction } from '../define.ts';

/**
 * Asks for the backup that is awaited before the cluster changes or goes. A Job takes it, in steps of its own
 * (`reconcile/backup`).
 */
export const backUp = defineAction('back-up', {
  target: ({ name }) => name,
  *run({ name, wish }) {
    yield* createBackup({ name, wish });
  },
});
