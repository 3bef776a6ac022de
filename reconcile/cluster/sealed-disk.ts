import type { VolumeState } from '../../manifests/api/etcd-peer.ts';
import { isSameDisk } from '../../manifests/build/sealed-disk.ts';
import { recordOf } from './life.ts';
import type { Slot } from './observation.ts';

/** In which states a volume holds what its member acknowledged, so that no other one may take its place. */
const holdsWrites: Readonly<Record<VolumeState, boolean>> = {
  bootstrapping: false,
  joining: false,
  sealed: true,
  hibernating: true,
  releasing: true,
  released: false,
  recovering: true,
  recovered: true,
  superseded: false,
};

/** What is behind the claim of a sealed member, and why it is not known to be what the member was sealed on. */
export type OtherDisk =
  /** Another one, as its name or its handle says. */
  | 'another'
  /** Nothing yet. The claim was made anew, because a sealed member's was bound. */
  | 'none'
  /** Nobody noted which it was, and the ConfigMap, which goes with the claim, is gone. */
  | 'unproven';

/**
 * A claim that is deleted and restored under its name says all that it ever said; what is behind it may be a copy from before the last
 * writes. `undefined`: it is the sealed one, or no claim is made about it (a first start, a member that has left).
 */
export function otherDiskOf(slot: Pick<Slot, 'volume' | 'peer' | 'configMap'>): OtherDisk | undefined {
  const record = recordOf(slot);
  const { volume, peer, configMap } = slot;
  if (!volume || !record || !holdsWrites[record.state] || volume.leaving || volume.lost) return undefined;
  if (!record.disk) return volume.disk && peer?.current && !configMap?.current ? 'unproven' : undefined;
  if (!volume.bound) return 'none';
  return !volume.disk || isSameDisk(record.disk, volume.disk) ? undefined : 'another';
}

export function isOnOtherDisk(slot: Slot): boolean {
  return otherDiskOf(slot) !== undefined;
}

/**
 * Whether it is to be read which disk goes by this PersistentVolume's name: backup tools restore it, on another disk, under the name that
 * it had. Before its member starts, and whenever the ConfigMap that goes with the claim is not there.
 */
export function isToBeCompared(slot: Slot): boolean {
  const record = recordOf(slot);
  if (record?.disk?.handle === undefined || !holdsWrites[record.state] || record.state === 'hibernating') return false;
  return !slot.configMap?.current || slot.statefulSet === undefined;
}

/** For people: what is there, and what should be. */
export function otherDiskInWords(slot: Slot): string {
  const { name, volume } = slot;
  const noted = recordOf(slot)?.disk?.pv;
  switch (otherDiskOf(slot)) {
    case 'none':
      return `the claim of ${name} was made anew, and has no disk yet; ${name} was sealed on PersistentVolume ${noted}`;
    case 'unproven':
      return `the claim of ${name} was made anew, and does not say which disk ${name} was sealed on; it has PersistentVolume ${volume?.disk?.pv} now`;
    default:
      return `the claim of ${name} has ${isNamesake(slot) ? `disk ${volume?.disk?.handle} behind ` : ''}PersistentVolume ${volume?.disk?.pv}, and ${name} was sealed on ${sealedOn(slot)}: what is there now may be a copy from before its last writes`;
  }
}

/** Which claim with which disk would be the right one. */
export function sealedDiskInWords(slot: Slot): string {
  return `PersistentVolumeClaim ${slot.name}, with its annotations, bound to ${sealedOn(slot)}`;
}

/** Another disk under the name that the sealed one had. */
function isNamesake(slot: Slot): boolean {
  return slot.volume?.disk !== undefined && slot.volume.disk.pv === recordOf(slot)?.disk?.pv;
}

function sealedOn(slot: Slot): string {
  const { pv, handle } = recordOf(slot)?.disk ?? {};
  if (pv === undefined) return 'the PersistentVolume that it had';
  return handle === undefined ? `PersistentVolume ${pv}` : `PersistentVolume ${pv} (disk ${handle})`;
}

/** To be noted: it is well, so what is behind it is what it was sealed on; or that has come back as another PersistentVolume. */
export function isUnnoted(slot: Slot): boolean {
  const record = recordOf(slot);
  const { volume } = slot;
  if (!volume?.disk || !record || !holdsWrites[record.state] || volume.leaving || volume.lost) return false;
  return record.disk?.pv !== volume.disk.pv && otherDiskOf(slot) === undefined;
}
