import { mayBeginAt, revisionsAhead } from '../../../../manifests/render/revisions.ts';
import { isAspirant } from '../../../../manifests/render/volume-record.ts';
import { hasDeparted, type Life, recordOf } from '../life.ts';
import type { Observation } from '../observation.ts';
import type { Refusal } from '../spec/refusal.ts';
import type { WantedSnapshot } from './restore.ts';

/**
 * Revisions as clients see them. A watch that resumes above the present revision is answered, and then hears nothing;
 * so each life of a cluster begins above all that clients saw of the one before, with all before that compacted.
 */

type Seen = Pick<Observation, 'cluster' | 'slots' | 'newestBackup'>;

/** How a restored store begins. */
export interface Beginning {
  /** What the volume remembers; absent at a birth, which has no life before it. */
  readonly floor?: number;
  /** Over the snapshot's revision. */
  readonly bump: number;
}

/** @param isRollback clients of the life before go on under the same name */
export function beginningOf({ revision = 0 }: WantedSnapshot, isRollback: boolean, seen: Seen): Beginning {
  if (!isRollback) return { bump: revisionsAhead };
  const floor = Math.max(revision, highestKnown(seen)) + revisionsAhead;
  return { floor, bump: floor - revision };
}

/** Between two floors lies more than a life writes, so the floor stands for what is unknown. */
export function highestKnown({ cluster, slots, newestBackup }: Seen): number {
  const ofSlots = slots.flatMap((slot) => {
    const record = recordOf(slot);
    const served = slot.endpoint.kind === 'known' ? [Number(slot.endpoint.status.revision)] : [];
    return record && !isAspirant(record) ? [...served, record.revisionFloor ?? 0] : served;
  });
  return Math.max(cluster.status?.revisionFloor ?? 0, newestBackup?.revision ?? 0, ...ofSlots);
}

/** Clients that read numbers as JavaScript does would take one revision for another. */
export function tooFarAhead(wanted: WantedSnapshot, isRollback: boolean, seen: Seen): Refusal | undefined {
  const { bump } = beginningOf(wanted, isRollback, seen);
  const { revision = 0, field, object } = wanted;
  if (mayBeginAt(revision + bump)) return undefined;
  return {
    reason: 'RevisionsExhausted',
    message: `a store restored from ${object} would begin at revision ${revision + bump}, too near to 2^53, up to which clients read revisions exactly`,
    cure: 'create another EtcdCluster, under another name and for new clients, and copy the keys into it',
    field,
  };
}

/** Of the present life. Where no volume is left that could remember, the status alone does. */
export function floorOf({ cluster, slots }: Pick<Observation, 'cluster' | 'slots'>, life: Life): number | undefined {
  const floors = slots.flatMap((slot) => (hasDeparted(slot) ? [] : (recordOf(slot)?.revisionFloor ?? [])));
  if (floors.length > 0) return Math.max(...floors);
  return life.stage === 'unclear' ? cluster.status?.revisionFloor : undefined;
}
