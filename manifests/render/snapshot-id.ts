import type { SnapshotSource } from '../api/backup-settings.ts';
import { hashOf } from './inputs-hash.ts';

/** How a restore is told from another one, in twelve hexadecimal digits. */

/** Of all that is wished of it: with other credentials it may succeed. */
export function wishOf(snapshot: SnapshotSource): string {
  return hashOf(snapshot).slice(0, 12);
}

/** Of the data that it has. */
export function sourceOf({ object }: SnapshotSource): string {
  return hashOf({ object }).slice(0, 12);
}
