import Type, { type Static } from 'typebox';
import { backupFields, canBeOpened } from './etcd-backup.ts';
import { object, type ReadonlyDeep } from './schema.ts';
import { awaitedBackupFresh, backupDefaults } from './spec-defaults.ts';

const { to, verify, scratch, podTemplate, deadline } = backupFields;

const policies = ['Required', 'BestEffort', 'Never'] as const;
export type BackupPolicy = (typeof policies)[number];

/** @param description the policy's words are explained once, for the first of them */
function policy(field: 'beforeUpgrade' | 'beforeHibernation' | 'beforeDeletion', description: string) {
  return Type.Optional(Type.Enum([...policies], { default: backupDefaults[field], description }));
}

export const clusterBackupSchema = object(
  {
    beforeUpgrade: policy(
      'beforeUpgrade',
      `Whether a higher version waits for a backup. Required: the first member gets it only when the backup is Ready. BestEffort: also when the backup has failed, is Stalled, or is not there after two deadlines. One whose pod was made more than ${awaitedBackupFresh} before is taken again, unless it has just ended.`,
    ),
    beforeHibernation: policy('beforeHibernation', 'The same before the members stop because spec.replicas is 0.'),
    beforeDeletion: policy(
      'beforeDeletion',
      'The same before the members stop because the resource is being deleted. The EtcdBackup stays.',
    ),
    to,
    verify,
    scratch,
    podTemplate,
    deadline,
  },
  { description: 'Backups that etcd-ratchet takes before it changes the cluster.', rules: [canBeOpened] },
);

export type ClusterBackup = ReadonlyDeep<Static<typeof clusterBackupSchema>>;
