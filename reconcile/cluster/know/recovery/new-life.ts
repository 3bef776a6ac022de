import { existingOf } from '../../../../manifests/api/existing-cluster.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import type { NewLife } from '../../../../manifests/render/new-life.ts';
import { mayBeginAt, revisionsAhead } from '../../../../manifests/render/revisions.ts';
import type { Recovery, VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { highestKnown } from '../backups/revisions.ts';
import type { Situation } from '../situation.ts';

/**
 * How a cluster that lost its quorum goes on: as a new one, with an ID of its own, above all revisions that clients
 * saw. `undefined`: it is forced where it is, and keeps its ID and revisions, because members of another origin know it
 * by that ID, or because there are no revisions left below 2^53.
 *
 * The data on the volume are at least as far as its life began, and no life writes as much as lies between two.
 */
export function newLifeOf(
  record: Pick<VolumeRecord, 'token' | 'revisionFloor'>,
  of: Attempted,
  situation: Situation,
): NewLife | undefined {
  const begins = highestKnown(situation) + revisionsAhead;
  if (existingOf(situation.cluster) || !mayBeginAt(begins)) return undefined;
  return { token: tokenOfLife(record, of), bump: begins - (record.revisionFloor ?? 0) };
}

/** Of a recovery: which one, and which of its attempts. */
export type Attempted = Pick<Recovery, 'id' | 'attempt'>;

/** Of this attempt alone: two of them never make the same cluster. */
export function tokenOfLife({ token }: Pick<VolumeRecord, 'token'>, { id, attempt }: Attempted): string {
  return hashOf({ token, id, attempt });
}
