import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Api } from '../node/api.ts';
import { isMounted } from '../node/bounded-volume.ts';
import { run } from '../node/command.ts';
import type { Informer } from '../node/informer.ts';
import { createKeyedWork } from '../node/keyed-work.ts';
import type { Log } from '../node/options.ts';
import { type Disks, provisionerName } from '../node/provisioner.ts';
import { parseQuantity } from '../node/quantity.ts';
import { formatTime } from '../node/status.ts';
import { type Claim, corePath, keyOf, type PersistentVolume } from '../node/wire.ts';

/**
 * Volumes of a real node: a file system of the PVC's very size, of root as `mkfs` makes it: only fsGroup lets a member
 * in. In memory: an ext4 grows under its users only where root has CAP_SYS_RESOURCE.
 */
export const boundedDisks: Disks = {
  make: async (path, capacity) => {
    await mkdir(path, { recursive: true });
    if (await isMounted(path)) return;
    await run('mount', ['-t', 'tmpfs', '-o', `${sizeOf(capacity)},mode=0755`, 'volume', path]);
    await mkdir(join(path, 'lost+found'), { mode: 0o700 });
  },
  drop: async ({ spec }) => {
    const path = spec?.local?.path;
    if (path !== undefined && (await isMounted(path))) await run('umount', [path]);
  },
};

function sizeOf(capacity: string): string {
  return `size=${parseQuantity(capacity)}`;
}

/**
 * The controller's half of growing a volume, as an external resizer does it: the disk, the PersistentVolume, and the
 * word to kubelet, whose half is the PVC's capacity.
 */
export function startResizer(options: {
  readonly api: Api;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly claims: Informer<Claim>;
  readonly volumes: Informer<PersistentVolume>;
}): void {
  const { api, claims, volumes } = options;
  const look = createKeyedWork(options, async (key) => {
    const claim = claims.get(key);
    const volume = volumes.get(claim?.spec?.volumeName ?? '');
    const wanted = claim?.spec?.resources?.requests?.storage;
    const path = volume?.spec?.local?.path;
    if (!claim || !volume || wanted === undefined || path === undefined || claim.status?.phase !== 'Bound') return;
    if (volume.metadata.annotations?.['pv.kubernetes.io/provisioned-by'] !== provisionerName) return;
    if (parseQuantity(volume.spec?.capacity?.storage ?? '0') >= parseQuantity(wanted)) return;
    await run('mount', ['-o', `remount,${sizeOf(wanted)}`, path]);
    const { namespace, name } = claim.metadata;
    const pending = {
      type: 'FileSystemResizePending',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: formatTime(Date.now()),
      message: 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.',
    };
    const status = `${corePath(namespace, 'persistentvolumeclaims', name)}/status`;
    await api.patch(status, 'merge', { status: { conditions: [pending] } });
    const capacity = { spec: { capacity: { storage: wanted } } };
    await api.patch(`/api/v1/persistentvolumes/${volume.metadata.name}`, 'merge', capacity);
  });
  claims.onChange((claim) => {
    if (claim) look(keyOf(claim));
  });
}
