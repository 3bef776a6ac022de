import Type, { type Static } from 'typebox';
import { backupFields, canBeOpened } from './etcd-backup.ts';
import { object, type ReadonlyDeep } from './schema.ts';
import { backupDefaults } from './spec-defaults.ts';

const { to, verify, scratch, deadline } = backupFields;

/** The backups that a cluster's own changes ask for. */
export const clusterBackupSchema = object(
  {
    beforeUpgrade: Type.Optional(
      Type.Enum(['Required', 'BestEffort', 'Never'], {
        default: backupDefaults.beforeUpgrade,
        description:
          'Whether a higher version waits for a backup. Required: the first member gets it only when the backup is Ready. BestEffort: also when the backup has failed.',
      }),
    ),
    to,
    verify,
    scratch,
    deadline,
  },
  { description: 'Backups that etcd-ratchet takes before it changes the cluster.', rules: [canBeOpened] },
);

export type ClusterBackup = ReadonlyDeep<Static<typeof clusterBackupSchema>>;
