import type { EtcdBackup } from '../../../../manifests/api/etcd-backup.ts';
import {
  backupBefore,
  backupBeforeName,
  isBackupBefore,
  type Occasion,
} from '../../../../manifests/render/backup-before.ts';
import { resources } from '../../../kube.ts';
import { moved } from '../../know/outcome.ts';
import { createOurs, nameTaken } from '../actions/context.ts';
import { defineRequest } from './request.ts';

interface Wish {
  readonly name: string;
  readonly before: Occasion;
}

/** Made by POST, and never changed. @throws {StepError} `NameTaken` when another's has the name. */
export const createBackup = defineRequest('createBackup', {
  words: ({ name }: Wish) => `asks for EtcdBackup ${name}`,
  writes: () => ({ fence: 'absent' }),
  live: async ({ name, before }, live): Promise<void> => {
    const { cluster } = live;
    if (name !== backupBeforeName(cluster, before)) throw moved('the spec asks for another backup by now');
    const ours = (found: EtcdBackup) => isBackupBefore(found, cluster, before);
    await createOurs<EtcdBackup>(live, resources.backups, backupBefore(cluster, before), ours);
  },
  model: (state, { name, before }, host) => {
    const found = host.awaitedBackup(state);
    if (found === 'foreign') throw nameTaken(resources.backups, name);
    return { state: found === 'missing' ? host.makeBackup(state, name, before) : state, answer: undefined };
  },
});
