import type { EtcdBackup } from '../../../../manifests/api/etcd-backup.ts';
import {
  backupBeforeUpgrade,
  backupBeforeUpgradeName,
  isBeforeUpgradeOf,
} from '../../../../manifests/render/backup-before-upgrade.ts';
import { resources } from '../../../kube.ts';
import { moved } from '../../know/outcome.ts';
import { createOurs, nameTaken } from '../actions/context.ts';
import { defineRequest } from './request.ts';

/** Made by POST, and never changed. @throws {StepError} `NameTaken` when another's has the name. */
export const createUpgradeBackup = defineRequest('createUpgradeBackup', {
  words: ({ name }: { readonly name: string }) => `asks for EtcdBackup ${name}`,
  writes: () => ({ fence: 'absent' }),
  live: async ({ name }, live): Promise<void> => {
    const { cluster } = live;
    if (name !== backupBeforeUpgradeName(cluster)) throw moved('the spec asks for another backup by now');
    const ours = (found: EtcdBackup) => isBeforeUpgradeOf(found, cluster);
    await createOurs<EtcdBackup>(live, resources.backups, backupBeforeUpgrade(cluster), ours);
  },
  model: (state, { name }, host) => {
    const found = host.upgradeBackup(state);
    if (found === 'foreign') throw nameTaken(resources.backups, name);
    return { state: found === 'missing' ? host.makeUpgradeBackup(state, name) : state, answer: undefined };
  },
});
