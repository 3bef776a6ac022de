/** Room for a copy of restored data, which an etcd serves before a rollback gives anything up for them. In bytes. */

/** What etcd writes beside the copy at once: the next segment of its log, and a little more. */
export const trialMargin = 80 * 2 ** 20;

/** A segment of etcd's log, as long as it is from the beginning. */
const segment = 64 * 2 ** 20;

/** Of a whole volume: the data, and the copy. */
export function roomForTrial(snapshotBytes: number): number {
  return 2 * (snapshotBytes + segment) + trialMargin;
}
