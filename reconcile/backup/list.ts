import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import { type Kube, KubeError, resources } from '../interfaces/kube.ts';
import { isSettled } from './situation.ts';

interface BackupsListed {
  /** Backups that are not settled; also those that an earlier release left without that mark. */
  readonly items: readonly EtcdBackup[];
  readonly resourceVersion: string;
}

/** @throws {KubeError} */
export type ListBackups = () => Promise<BackupsListed>;

export interface ListContext {
  readonly kube: Kube;
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

const unsettled = 'status.settled!=true';

/** Lists the unfinished backups, by a field that the API server selects by. An earlier CRD has it answer with all. */
export function backupLister({ kube, namespace, signal, log }: ListContext): ListBackups {
  let isSelectable = true;
  return async () => {
    if (isSelectable)
      try {
        return await kube.list<EtcdBackup>(resources.backups, { namespace, fieldSelector: unsettled, signal });
      } catch (error) {
        if (!(error instanceof KubeError) || error.status !== 400) throw error;
        isSelectable = false;
        const cure = 'apply the CRDs of this release (manifests/install/crds)';
        log(
          { problem: error.message },
          `all EtcdBackups are listed with every tick, also those that are done: ${cure}`,
        );
      }
    const { items, resourceVersion } = await kube.list<EtcdBackup>(resources.backups, { namespace, signal });
    // That CRD does not keep the mark: nothing is marked in vain.
    return { items: items.filter((one) => !isSettled(one)), resourceVersion };
  };
}
