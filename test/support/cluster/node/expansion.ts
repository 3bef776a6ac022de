import type { Api } from './api.ts';
import { fitFileSystem } from './bounded-volume.ts';
import type { Informer } from './informer.ts';
import { createKeyedWork } from './keyed-work.ts';
import type { Log } from './options.ts';
import { provisionerName } from './provisioner.ts';
import { parseQuantity } from './quantity.ts';
import { formatTime } from './status.ts';
import { type Claim, corePath, keyOf, type PersistentVolume } from './wire.ts';

export type Expansion = {
  /** A pod began (1) or ceased (-1) to have the PVC mounted: only then does its file system grow. */
  mounted(key: string, by: 1 | -1): void;
};

/**
 * Grows volumes as external-resizer and kubelet do between them: first the PersistentVolume, and the PVC waits for
 * its file system (`FileSystemResizePending`); then, where a pod has it mounted, the PVC's capacity.
 */
export function startExpansion(options: {
  api: Api;
  log: Log;
  signal: AbortSignal;
  claims: Informer<Claim>;
  volumes: Informer<PersistentVolume>;
}): Expansion {
  const { api, claims, volumes } = options;
  const users = new Map<string, number>();
  const look = createKeyedWork(options, grow);

  async function grow(key: string): Promise<void> {
    const claim = claims.get(key);
    const volume = volumes.get(claim?.spec?.volumeName ?? '');
    const wanted = claim?.spec?.resources?.requests?.storage;
    const has = claim?.status?.capacity?.storage;
    if (!claim || !volume || wanted === undefined || has === undefined || claim.status?.phase !== 'Bound') return;
    if (volume.metadata.annotations?.['pv.kubernetes.io/provisioned-by'] !== provisionerName) return;
    if (parseQuantity(wanted) <= parseQuantity(has)) return;

    const { namespace, name } = claim.metadata;
    const status = `${corePath(namespace, 'persistentvolumeclaims', name)}/status`;
    if (parseQuantity(volume.spec?.capacity?.storage ?? '0') < parseQuantity(wanted)) {
      await api.patch(`/api/v1/persistentvolumes/${volume.metadata.name}`, 'merge', {
        spec: { capacity: { storage: wanted } },
      });
    }
    if ((users.get(key) ?? 0) > 0) {
      await fitFileSystem(volume, wanted);
      await api.patch(status, 'merge', { status: { capacity: { storage: wanted }, conditions: null } });
      return;
    }
    if (claim.status.conditions?.some(({ type }) => type === 'FileSystemResizePending')) return;
    const now = formatTime(Date.now());
    const pending = {
      type: 'FileSystemResizePending',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: now,
      message: 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.',
    };
    await api.patch(status, 'merge', { status: { conditions: [pending] } });
  }

  claims.onChange((claim) => {
    if (claim) look(keyOf(claim));
  });
  return {
    mounted: (key, by) => {
      users.set(key, (users.get(key) ?? 0) + by);
      if ((users.get(key) ?? 0) <= 0) users.delete(key);
      else look(key);
    },
  };
}
