import type { Situation } from './decide.ts';
import { downSince, graceOf } from './down.ts';
import { ailmentOf, isInSync } from './health.ts';
import { recordOf } from './life.ts';
import type { Slot } from './observation.ts';
import { whyGone } from './volume-gone.ts';

/** So many graces of a member for what may take long by itself: to be sent the data, or to find a place to start at. */
export const longer = 6;

/** What another learner would fare no better with: its template is the cause, and a person is told so. */
const ofTheTemplate: ReadonlySet<string> = new Set([
  'OutOfMemory',
  'ContainerCannotStart',
  'OtherContainerFails',
  'PodRefused',
]);

/** Why it will never start, or not again: nothing that it needs comes back by itself. */
const withoutHope: ReadonlySet<string> = new Set(['VolumeMissing', 'VolumeLost', 'VolumeLeaving', 'PodLeaving']);

/**
 * When a learner has had its time, in milliseconds; `undefined`: it is not given up for the time that it takes.
 *
 * - It can never start, because its volume or its node is gone: the grace of a member.
 * - It has started: the same from its own start, as the kubelet told it, or six times that where it answers, or has answered (it is
 *   sealed then): it is being sent the data, and one answer that is late is no reason to begin anew. What kept it from starting before (an API server that was away, a node that was full) is not its fault.
 * - It has not started where its volume is bound: six times that from when its pod was made. At another place there may be room for it.
 * - Not bound yet, there is no place for it anywhere, and another one would find none either. It waits, and says why.
 */
export function givenUpAt(slot: Slot, situation: Situation): number | undefined {
  if (isInSync(slot, situation.slots)) return undefined;
  const since = (downSince(slot, situation) ?? situation.at).getTime();
  const { pod, volume } = slot;
  const { member } = graceOf(situation);
  const reason = ailmentOf(slot, situation)?.reason ?? '';
  if (withoutHope.has(reason) || (volume && whyGone(volume))) return Math.max(since, time(pod?.endsBy)) + member;
  if (ofTheTemplate.has(reason)) return undefined;
  const started = startOf(slot, situation);
  if (started !== undefined || pod?.container.everStarted) {
    const answers =
      slot.endpoint.kind === 'known' || (recordOf(slot)?.state === 'sealed' && reason !== 'MemberKeepsExiting');
    return Math.max(since, time(started), time(pod?.createdAt)) + member * (answers ? longer : 1);
  }
  return volume?.bound || !pod ? Math.max(since, time(pod?.createdAt)) + member * longer : undefined;
}

/** When its etcd ran first: the status remembers it over restarts; where the status is lost, its present run counts. */
export function startOf({ name, pod }: Slot, { cluster }: Pick<Situation, 'cluster'>): Date | undefined {
  const noted = cluster.status?.members?.find((member) => member.name === name)?.startedAt;
  return noted === undefined ? pod?.container.startedAt : new Date(noted);
}

function time(date: Date | undefined): number {
  return date?.getTime() ?? 0;
}
