import { createHash } from 'node:crypto';

/** What was behind a claim when its member was sealed: only this has what the member acknowledged. */
export interface SealedDisk {
  /** Name of the PersistentVolume. */
  readonly pv: string;
  /** As its CSI driver calls it, where that was seen: another PersistentVolume may stand for the same disk later. */
  readonly handle?: string;
}

const pvPattern = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const plainHandle = /^[\x21-\x7e]{1,256}$/;

/** `<PersistentVolume>` or `<PersistentVolume> <volumeHandle>`. */
export function formatSealedDisk({ pv, handle }: SealedDisk): string {
  return handle === undefined ? pv : `${pv} ${spelled(handle)}`;
}

/** What {@link formatSealedDisk} wrote; `undefined`: nothing that it writes. */
export function parseSealedDisk(text: string): SealedDisk | undefined {
  const [pv = '', handle, ...rest] = text.split(' ');
  if (!pvPattern.test(pv) || rest.length > 0) return undefined;
  if (handle === undefined) return { pv };
  return plainHandle.test(handle) ? { pv, handle } : undefined;
}

/**
 * Whether both are one disk. By its handle, where both are known: the same disk may come back as another PersistentVolume, and another
 * disk as a PersistentVolume of the same name. Else by the PersistentVolume's name, which for dynamic ones has the claim's UID in it.
 */
export function isSameDisk(noted: SealedDisk, found: SealedDisk): boolean {
  if (noted.handle !== undefined && found.handle !== undefined) return spelled(noted.handle) === spelled(found.handle);
  return noted.pv === found.pv;
}

/** A driver may call a disk anything; what is long or unprintable is known by its hash. */
function spelled(handle: string): string {
  return plainHandle.test(handle) ? handle : `sha256:${createHash('sha256').update(handle).digest('hex')}`;
}
