/** How large etcd's database may become on a volume: one floor for the API, the derived quota and the warnings. */

export const MiB = 2 ** 20;

/** The write-ahead log keeps five files of 64 MB, and one more is being allocated. */
const logReserve = 512 * MiB;

/** As a quantity; the rules of the API speak in these. */
export const logReserveText = '512Mi';

/** With less, the log alone fills the volume before the quota says NOSPACE. */
export const smallestVolume = '256Mi';

/** A larger database meets the end of the disk before its quota: etcd dies on all members at once, without an alarm. */
export function mostQuota(volume: number): number {
  return Math.max(volume / 4, volume - logReserve);
}

/** With room for the second copy of the database that a defragmentation, and a snapshot from the leader, write. */
export function bearableQuota(volume: number): number {
  return Math.max(volume / 4, (volume - logReserve) / 2);
}
