import type { Job, Pod } from '../../manifests/kube-types.ts';
import { isCompleted, isOver } from '../jobs/job-end.ts';
import { clockSkew, type Mark } from './marks.ts';
import type { NodeSeen } from './observation.ts';

/** When nodes are looked at, and what their Jobs answer. Pure. */

/** At a time. */
const mostLooks = 10;

/** What a look finds: the file is there, is from before this boot, or is not there. */
const lookAnswers = ['needed', 'old', 'none'] as const;
export type LookAnswer = (typeof lookAnswers)[number];

export interface Looks<T> {
  /** In turn, as many as are looked at now. */
  readonly due: readonly T[];
  readonly isMore: boolean;
  /** When the next one is due, of those that are not. */
  readonly nextAt?: Date;
}

type Candidate = Pick<NodeSeen, 'name' | 'selected' | 'ready' | 'bootId' | 'marks' | 'needed' | 'ofOther'>;

/** A node that needs a reboot anyway, is under way, or answers nothing, is not looked at. */
export function dueLooks<T extends Candidate>(nodes: readonly T[], every: number, at: Date): Looks<T> {
  const candidates = nodes.filter(
    ({ selected, ready, bootId, marks, needed, ofOther }) =>
      selected && ready && bootId !== '' && !marks.granted && needed === undefined && ofOther === undefined,
  );
  const due = candidates.filter(({ marks }) => dueAt(marks.looked, every, at) <= at.getTime());
  const later = candidates.filter((one) => !due.includes(one)).map(({ marks }) => dueAt(marks.looked, every, at));
  return {
    due: due.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, mostLooks),
    isMore: due.length > mostLooks,
    ...(later.length > 0 && { nextAt: new Date(Math.min(...later)) }),
  };
}

function dueAt(looked: Mark | undefined, every: number, at: Date): number {
  const isMark = looked !== undefined && looked.at.getTime() - at.getTime() <= clockSkew;
  return isMark ? looked.at.getTime() + every : Number.NEGATIVE_INFINITY;
}

/**
 * The answer of a look's Job. `stale`: it ended before the last look was noted; `under-way`: there is no answer yet.
 */
export function answerOf(
  job: Job,
  pods: readonly Pod[],
  { looked }: NodeSeen['marks'],
): LookAnswer | 'failed' | 'stale' | 'under-way' {
  if (job.metadata.deletionTimestamp !== undefined) return 'under-way';
  const made = new Date(job.metadata.creationTimestamp ?? '');
  if (looked && made <= looked.at) return 'stale';
  if (!isOver(job)) return 'under-way';
  if (!isCompleted(job)) return 'failed';
  const messages = pods.flatMap(({ metadata, status }) =>
    metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid)
      ? (status?.containerStatuses ?? []).flatMap(({ state }) => state?.terminated?.message ?? [])
      : [],
  );
  return lookAnswers.find((answer) => messages.includes(answer)) ?? 'failed';
}
