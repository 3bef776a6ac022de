import { repositoryFiles } from '../../manifests/documentation.ts';
import { mentioning } from './runbook-mention.ts';

/** Where a person reads what to do, by the kind of the object that needs that person. */
export const kindRunbooks = {
  EtcdBackup: 'docs/runbooks/backup-fails.md#a-backup',
  EtcdRestore: 'docs/runbooks/backup-fails.md#a-restore',
  EtcdBackupSchedule: 'docs/runbooks/backup-fails.md#a-schedule',
  EtcdNodePolicy: 'docs/runbooks/node-stuck.md',
  EtcdFleet: 'docs/runbooks/fleet.md',
} as const;

/** The message of `Stalled`. That of `Ready` has no link: other objects quote it, and have a runbook of their own. */
export function withRunbook(message: string, kind: keyof typeof kindRunbooks): string {
  return mentioning(message, `${repositoryFiles}/${kindRunbooks[kind]}`);
}
