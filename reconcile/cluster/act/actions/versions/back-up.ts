import { createUpgradeBackup } from '../../requests/backup.ts';
import { defineAction } from '../define.ts';

/** Asks for the backup that an upgrade waits for. A Job takes it, in steps of its own (`reconcile/backup`). */
export const backUp = defineAction('back-up', {
  target: ({ name }) => name,
  *run({ name }) {
    yield* createUpgradeBackup({ name });
  },
});
