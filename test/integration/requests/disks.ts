import type { PersistentVolume } from '../../../manifests/kube-types.ts';
import type { SealedDisk } from '../../../manifests/render/sealed-disk.ts';
import { isOnDisk, readDiskBehind } from '../../../reconcile/cluster/act/requests/disks.ts';
import { liveVolume } from '../../../reconcile/cluster/act/requests/volumes.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { Contract, Contracts } from './contract.ts';
import { member } from './members.ts';
import type { Scene } from './scene.ts';

const name = 'orders-0';
const handle = 'vol-1';

/** PersistentVolumes have no namespace. */
const pvOf = ({ namespace }: Scene) => `pv-${namespace}`;

/** Its disk is read by an observation as long as it is not noted. */
const onDisk =
  (csi?: { readonly driver: string; readonly volumeHandle: string }, isThere = true) =>
  async (scene: Scene) => {
    if (isThere) {
      const source = csi ? { csi } : { hostPath: { path: '/nowhere' } };
      const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...source };
      await scene.kube.create(resources.persistentVolumes, {
        metadata: { name: pvOf(scene) },
        spec,
      } as PersistentVolume);
    }
    await member(scene, { bound: pvOf(scene) });
  };

const ofDriver = onDisk({ driver: 'contract.test', volumeHandle: handle });

function* behind() {
  const { readAt } = yield* liveVolume(name);
  return yield* readDiskBehind({ readAt });
}

function sees(when: string, start: Contract['start'], diskOf: (scene: Scene) => SealedDisk): Contract {
  return {
    when,
    ...(start && { start }),
    asks: function* (_, scene) {
      const { readAt } = yield* liveVolume(name);
      return yield* isOnDisk({ readAt, disk: diskOf(scene) });
    },
  };
}

export const disks = {
  readDiskBehind: [
    { when: 'a CSI driver made it', start: ofDriver, asks: behind },
    { when: 'no CSI driver made it', start: onDisk(), asks: behind },
    { when: 'its PersistentVolume is gone', start: onDisk(undefined, false), asks: behind },
    { when: 'nothing is behind it yet', asks: behind },
  ],
  isOnDisk: [
    sees('it is that one', ofDriver, (scene) => ({ pv: pvOf(scene), handle })),
    sees('it is that one under another name', ofDriver, () => ({ pv: 'pv-other', handle })),
    sees('another disk has its name', ofDriver, (scene) => ({ pv: pvOf(scene), handle: 'vol-2' })),
    sees('only its name was noted', ofDriver, (scene) => ({ pv: pvOf(scene) })),
    sees('another name was noted', ofDriver, () => ({ pv: 'pv-other' })),
    sees('it has no handle, and none was noted', onDisk(), (scene) => ({ pv: pvOf(scene), handle: null })),
    sees('it has no handle, and one was noted', onDisk(), (scene) => ({ pv: pvOf(scene), handle })),
    sees('nothing is behind it yet', undefined, () => ({ pv: 'pv-other' })),
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
