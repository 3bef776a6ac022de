import type { Reason } from '../../../reasons/reasons.ts';
import { downSince, graceOf } from '../health/grace.ts';
import { ailmentOf, isInSync } from '../health/health.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import type { Situation } from '../situation.ts';
import { whyGone } from '../volumes/volume-gone.ts';

/** So many grace periods for what may take long by itself: to receive the data, or to find a place to start. */
export const longer = 6;

/** Another learner would fare no better: the template is the cause, and a person is told. */
const ofTheTemplate: ReadonlySet<Reason | undefined> = new Set<Reason>([
  'OutOfMemory',
  'ContainerCannotStart',
  'OtherContainerFails',
  'PodRefused',
]);

/** Why it will never start, or not again: nothing that it needs comes back by itself. */
const withoutHope: ReadonlySet<Reason | undefined> = new Set<Reason>(['VolumeMissing', 'PodLeaving']);

/**
 * When a learner's time is over, in milliseconds; `undefined`: it is not given up for the time that it takes.
 *
 * - It can never start, or not again, because its volume or its node is gone: the grace period of a member, even where
 * it is in sync: a disk that disappears must not carry a vote. - It has started: the same from its own start, as
 * kubelet reports it, or six times that where it answers, or has answered (it is sealed then): it receives the data,
 * and one late answer is no reason to begin anew. What kept it from starting before (an API server that was away, a
 * full node) is not its fault. - It has not started where its volume is bound: six times that from when its pod was
 * made. Another place may have room. - Not bound yet: no place has room for it, and another learner would find none
 * either. It waits, and says why.
 */
export function givenUpAt(slot: Slot, situation: Situation): number | undefined {
  const goes = slot.volume !== undefined && (slot.volume.leaving || whyGone(slot.volume) !== undefined);
  if (!goes && isInSync(slot, situation)) return undefined;
  const since = (downSince(slot, situation) ?? situation.at).getTime();
  const { pod, volume } = slot;
  const { member } = graceOf(situation);
  const reason = ailmentOf(slot, situation)?.reason;
  if (goes || withoutHope.has(reason)) return Math.max(since, time(pod?.endsBy)) + member;
  if (ofTheTemplate.has(reason)) return undefined;
  const started = startOf(slot, situation);
  if (started !== undefined || pod?.container.everStarted) {
    const answers =
      slot.endpoint.kind === 'known' || (recordOf(slot)?.state === 'sealed' && reason !== 'MemberKeepsExiting');
    return Math.max(since, time(started), time(pod?.createdAt)) + member * (answers ? longer : 1);
  }
  return volume?.bound || !pod ? Math.max(since, time(pod?.createdAt)) + member * longer : undefined;
}

/** When its etcd first ran: status remembers it over restarts; where status is lost, its present run counts. */
export function startOf({ name, pod }: Slot, { cluster }: Pick<Situation, 'cluster'>): Date | undefined {
  const noted = cluster.status?.members?.find((member) => member.name === name)?.startedAt;
  return noted === undefined ? pod?.container.startedAt : new Date(noted);
}

function time(date: Date | undefined): number {
  return date?.getTime() ?? 0;
}
