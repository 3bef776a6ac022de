import { createHash } from 'node:crypto';

/** The disk behind a PVC when its member was sealed: only this has what the member acknowledged. */
export interface SealedDisk {
  /** Name of the PersistentVolume. */
  readonly pv: string;
  /**
   * Its CSI driver's name: another PersistentVolume may stand for the same disk later. `null`: the PersistentVolume has
   * no CSI driver. Absent: it was not read.
   */
  readonly handle?: string | null;
}

const pvPattern = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const plainHandle = /^[\x21-\x7e]{1,256}$/;
const noHandle = '-';

/** `<PersistentVolume>`, `<PersistentVolume> <volumeHandle>`, or `<PersistentVolume> -` where it has none. */
export function formatSealedDisk({ pv, handle }: SealedDisk): string {
  return handle === undefined ? pv : `${pv} ${handle === null ? noHandle : spelled(handle)}`;
}

/** What {@link formatSealedDisk} wrote; `undefined`: nothing that it writes. */
export function parseSealedDisk(text: string): SealedDisk | undefined {
  const [pv = '', handle, ...rest] = text.split(' ');
  if (!pvPattern.test(pv) || rest.length > 0) return undefined;
  if (handle === undefined) return { pv };
  if (handle === noHandle) return { pv, handle: null };
  return plainHandle.test(handle) ? { pv, handle } : undefined;
}

/**
 * Whether both are one disk: by their handles if both are known, since a disk may come back as another
 * PersistentVolume, and a name may come back for another disk. Else by the PersistentVolume's name, which for dynamic
 * ones has the PVC's UID.
 */
export function isSameDisk(noted: SealedDisk, found: SealedDisk): boolean {
  if (typeof noted.handle === 'string' && typeof found.handle === 'string')
    return spelled(noted.handle) === spelled(found.handle);
  // One has a handle, and the other is known to have none.
  if (noted.handle !== undefined && found.handle !== undefined && noted.handle !== found.handle) return false;
  return noted.pv === found.pv;
}

/** A driver may call a disk anything; what is long or unprintable is known by its hash. */
function spelled(handle: string): string {
  return plainHandle.test(handle) && handle !== noHandle
    ? handle
    : `sha256:${createHash('sha256').update(handle).digest('hex')}`;
}
