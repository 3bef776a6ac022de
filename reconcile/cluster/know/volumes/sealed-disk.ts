import type { VolumeState } from '../../../../manifests/api/etcd-peer.ts';
import { isSameDisk, type SealedDisk } from '../../../../manifests/render/sealed-disk.ts';
import { isOfRecovery, type VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { recordOf } from '../life.ts';
import type { DiskView, Observation, Slot } from '../observation.ts';

/** In which states a volume holds acknowledged writes of its member, so that no other one may take its place. */
const holdsWrites: Readonly<Record<VolumeState, boolean>> = {
  bootstrapping: false,
  joining: false,
  sealed: true,
  hibernating: true,
  releasing: true,
  released: false,
  recovering: true,
  recovered: true,
  restoring: false,
  restored: false,
  superseded: false,
};

/** Also what a recovery has begun anew: its member had these data before, and nothing else has them. */
function mayHoldWrites(record: VolumeRecord): boolean {
  return holdsWrites[record.state] || isOfRecovery(record);
}

/** Why the disk behind a sealed member's PVC is not known to be the one that the member was sealed on. */
type OtherDisk =
  /** Another disk, by its name or its handle. */
  | 'another'
  /** None yet. The PVC was recreated, because a sealed member's PVC was bound. */
  | 'none'
  /**
   * The record names no disk, or only its PersistentVolume, and the ConfigMap, which is deleted with the PVC, is gone.
   */
  | 'unproven';

/** As it is recorded. */
export function sealedDiskOf({ pv, handle, state }: DiskView): SealedDisk {
  if (handle !== undefined) return { pv, handle };
  return state === 'present' ? { pv, handle: null } : { pv };
}

/**
 * A PVC that is deleted and restored under its name has all its old annotations; its disk may be a copy from before the
 * last writes. `undefined`: it is the sealed disk, or the question does not arise (a first start, a former member).
 */
function otherDiskOf(slot: Pick<Slot, 'volume' | 'peer' | 'configMap'>): OtherDisk | undefined {
  const record = recordOf(slot);
  const { volume, peer, configMap } = slot;
  if (!volume || !record || !mayHoldWrites(record) || volume.leaving || volume.lost) return undefined;
  // The ConfigMap of a first start may not be there yet: what is missing proves nothing then.
  const lacksMap = !configMap?.current && !isOfRecovery(record);
  if (!record.disk) return volume.disk && peer?.current && lacksMap ? 'unproven' : undefined;
  if (!volume.bound) return 'none';
  if (!volume.disk) return undefined;
  if (!isSameDisk(record.disk, sealedDiskOf(volume.disk))) return 'another';
  // A backup tool restores a PersistentVolume under its old name. The name alone proves nothing where the handle may be
  // read.
  const isUnproven = record.disk.handle === undefined && volume.disk.handle !== undefined && lacksMap;
  return isUnproven ? 'unproven' : undefined;
}

export function isOnOtherDisk(slot: Slot): boolean {
  return otherDiskOf(slot) !== undefined;
}

/**
 * Whether the disk behind this PersistentVolume's name must be read: backup tools restore it, on another disk, under
 * its old name. Before its member starts, whenever the ConfigMap that is deleted with the PVC is missing, and while its
 * pod is not Ready: the PersistentVolume may have been replaced under the PVC.
 */
export function isToBeCompared(slot: Slot): boolean {
  const record = recordOf(slot);
  if (!record?.disk || !mayHoldWrites(record) || record.state === 'hibernating') return false;
  if (!slot.configMap?.current || slot.statefulSet === undefined) return true;
  return record.disk.handle !== undefined && (!slot.pod?.ready || slot.pod.leaving);
}

/** Running members with a record: by turns the disk behind them is read and compared. */
export function isComparedByTurns(slot: Slot): boolean {
  const record = recordOf(slot);
  const { volume } = slot;
  if (!record?.disk || !holdsWrites[record.state] || record.state === 'hibernating') return false;
  return volume?.disk !== undefined && !volume.leaving && !volume.lost;
}

/** Its record has only the PersistentVolume's name. */
export function lacksHandle(slot: Slot): boolean {
  const noted = recordOf(slot)?.disk;
  return noted !== undefined && noted.handle === undefined;
}

/**
 * What may be recorded of a healthy member: the PersistentVolume's handle only where the member is seen to run on it.
 * It votes under the recorded ID, its PVC was not recreated since the comparison, and its pod was scheduled when this
 * PersistentVolume existed already.
 */
export function provenDiskOf(slot: Slot, { membership }: Pick<Observation, 'membership'>): SealedDisk | undefined {
  const { volume, configMap, pod, endpoint } = slot;
  const record = recordOf(slot);
  if (!volume?.disk) return undefined;
  const found = sealedDiskOf(volume.disk);
  if (endpoint.kind === 'unknown' || membership.kind === 'unknown' || !pod?.ready || pod.leaving)
    return { pv: found.pv };
  const { memberId, clusterId } = endpoint.status;
  const isIt = memberId === record?.memberId && clusterId === record.clusterId && clusterId === membership.clusterId;
  const votes = membership.members.some(({ id, isLearner }) => id === memberId && !isLearner);
  const isSameClaim = configMap?.current === true && !configMap.byPeer;
  return isIt && votes && isSameClaim && wasMounted(slot) === true ? found : { pv: found.pv };
}

/** Whether its pod mounted this PersistentVolume: the pod was scheduled after it was made. `undefined`: unknown. */
export function wasMounted({ volume, pod }: Slot): boolean | undefined {
  const made = volume?.disk?.createdAt;
  return made && pod?.scheduledAt && made <= pod.scheduledAt;
}

/** For people: the disk that is there, and the one that should be. */
export function otherDiskInWords(slot: Slot): string {
  const { name, volume } = slot;
  const noted = recordOf(slot)?.disk?.pv;
  switch (otherDiskOf(slot)) {
    case 'none':
      return `the PVC of ${name} was recreated, and has no disk yet; ${name} was sealed on PersistentVolume ${noted}`;
    case 'unproven':
      if (noted !== undefined)
        return `the PVC of ${name} was recreated; ${name} was sealed on PersistentVolume ${noted}, whose disk was not recorded, and disk ${volume?.disk?.handle} has that name now`;
      return `the PVC of ${name} was recreated, and does not say which disk ${name} was sealed on; it has PersistentVolume ${volume?.disk?.pv} now`;
    default:
      return `the PVC of ${name} has ${isNamesake(slot) ? `${handleInWords(volume?.disk?.handle)} behind ` : ''}PersistentVolume ${volume?.disk?.pv}, and ${name} was sealed on ${sealedOn(slot)}: the present disk may be a copy from before its last writes`;
  }
}

/** Which PVC with which disk would be the right one. */
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
  return handle === undefined || handle === null ? `PersistentVolume ${pv}` : `PersistentVolume ${pv} (disk ${handle})`;
}

function handleInWords(handle: string | undefined): string {
  return handle === undefined ? 'another disk' : `disk ${handle}`;
}

/** To be recorded: it is healthy, so its disk is the sealed one; or that disk returned as another PersistentVolume. */
export function isUnnoted(slot: Slot): boolean {
  const record = recordOf(slot);
  const { volume } = slot;
  if (!volume?.disk || !record || !holdsWrites[record.state] || volume.leaving || volume.lost) return false;
  return record.disk?.pv !== volume.disk.pv && otherDiskOf(slot) === undefined;
}
