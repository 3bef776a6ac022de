import { act, type Decision } from '../../../know/decision.ts';
import { downFor, downSince, graceOf } from '../../../know/health/grace.ts';
import { ailmentOf } from '../../../know/health/health.ts';
import type { Slot } from '../../../know/observation.ts';
import { isBlockedFor } from '../../../know/pods/blocked.ts';
import { startsUntil } from '../../../know/pods/startup.ts';
import type { Situation } from '../../../know/situation.ts';
import { hasRunHigher, mayGoBackTo } from '../../../know/versions/versions-run.ts';

/**
 * A pod that is neither healthy nor known to be broken is recreated, once: StatefulSets do not do that. It is not
 * Ready, so nothing is lost. A running container first gets the time of its startup probe: etcd reads a large database
 * before it answers.
 *
 * Guards I6: not where it would restart on a lower minor than it ran, and may not.
 */
export function unstickPod(situation: Situation): Decision | undefined {
  const { slots, life } = situation;
  if (life.stage !== 'born') return undefined;
  const stuck = slots.find((slot) => isStuck(slot, situation) && stuckFor(slot, situation) >= graceOf(situation).pod);
  if (!stuck?.pod) return undefined;
  const { name, pod } = stuck;
  const ailment = ailmentOf(stuck, situation);
  const why = ailment && isBlockedFor(ailment.reason) ? ailment.message : 'no event names a cause';
  return act(
    { kind: 'recreate-pod', pod: { name, uid: pod.uid } },
    'RecreatingPod',
    `recreating the pod of ${name}: it has not become Ready, and ${why}`,
  );
}

/** In milliseconds: the shorter of the time that it is down, and the time since its startup probe gave up. */
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
  if (next === undefined || (hasRunHigher(slot, next) && !mayGoBackTo(next, situation))) return false;
  const madeAlready = pod.createdAt > since;
  // A learner is never Ready, and may catch up for long: a member that answers is not stuck.
  const reason = ailmentOf(slot, situation)?.reason;
  // A cause before the start of the container may belong to the node, or pass.
  return !madeAlready && endpoint.kind === 'unknown' && (reason === 'MemberStarting' || isBlockedFor(reason));
}
