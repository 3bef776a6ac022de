import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { downFor, downSince, graceOf } from '../down.ts';
import { ailmentOf } from '../health.ts';
import { isHeldUpFor } from '../held-up.ts';
import type { Slot } from '../observation.ts';
import { startsUntil } from '../startup.ts';
import { hasRunHigher, mayGoBackTo } from '../versions-run.ts';

/**
 * A pod that is neither well nor known to be broken is made anew, once: StatefulSets don't do that. Nobody misses it, it is not Ready.
 * A container that runs has its startup probe's time first: a large database is read before etcd answers anything.
 *
 * Guards I6: not where it would come back on a lower minor than it ran, and may not.
 */
export function recreatePod(situation: Situation): Decision | undefined {
  const { slots, life } = situation;
  if (life.stage !== 'born') return undefined;
  const stuck = slots.find((slot) => isStuck(slot, situation) && stuckFor(slot, situation) >= graceOf(situation).pod);
  if (!stuck?.pod) return undefined;
  const { name, pod } = stuck;
  const ailment = ailmentOf(stuck, situation);
  const why = ailment && isHeldUpFor(ailment.reason) ? ailment.message : 'nothing says why';
  return act(
    { kind: 'recreate-pod', pod: { name, uid: pod.uid } },
    'RecreatingPod',
    `making the pod of ${name} anew: it has not become Ready, and ${why}`,
  );
}

/** In milliseconds: since it is down, and since its container may have started by. */
function stuckFor(slot: Slot, situation: Situation): number {
  const due = slot.pod && startsUntil(slot.pod);
  const overdue = due === undefined ? Number.POSITIVE_INFINITY : situation.at.getTime() - due.getTime();
  return Math.min(downFor(slot, situation), overdue);
}

function isStuck(slot: Slot, situation: Situation): boolean {
  const { pod, peer, endpoint } = slot;
  const since = downSince(slot, situation);
  if (!pod || pod.leaving || pod.ready || pod.unscheduled !== undefined || since === undefined) return false;
  const next = peer?.inputs.version;
  if (next === undefined || (hasRunHigher(pod, next) && !mayGoBackTo(next, situation))) return false;
  const madeAlready = pod.createdAt > since;
  // A learner is never Ready, and may be catching up for long: who answers is not stuck.
  const reason = ailmentOf(slot, situation)?.reason ?? '';
  // What holds it up before its start may be its node's, or a moment's.
  return !madeAlready && endpoint.kind === 'unknown' && (reason === 'MemberStarting' || isHeldUpFor(reason));
}
