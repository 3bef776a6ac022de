import type { EtcdBackup } from '../../../../manifests/api/etcd-backup.ts';
import {
  type BackupWish,
  backupBefore,
  backupBeforeName,
  isBackupBefore,
} from '../../../../manifests/render/backup-before.ts';
import { resources } from '../../../interfaces/kube.ts';
import { moved } from '../../know/outcome.ts';
import { createOurs, nameTaken } from '../actions/context.ts';
import { defineRequest } from './request.ts';

interface Asked {
  readonly name: string;
  readonly wish: BackupWish;
}

/** Made by POST, and never changed. @throws {StepError} `NameTaken` when another's has the name. */
export const createBackup = defineRequest('createBackup', {
  words: ({ name }: Asked) => `asks for EtcdBackup ${name}`,
  writes: () => ({ fence: 'absent' }),
  live: async ({ name, wish }, live): Promise<void> => {
    const { cluster } = live;
    if (name !== backupBeforeName(cluster, wish)) throw moved('the spec asks for another backup by now');
    const ours = (found: EtcdBackup) => isBackupBefore(found, cluster, wish);
    await createOurs<EtcdBackup>(live, resources.backups, backupBefore(cluster, wish), ours);
  },
  model: (state, { name, wish }, host) => {
    const found = host.awaitedBackup(state, name);
    if (found === 'foreign') throw nameTaken(resources.backups, name);
    return { state: found === 'missing' ? host.makeBackup(state, name, wish) : state, answer: undefined };
  },
});
