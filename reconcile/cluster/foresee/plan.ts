import { toldIn } from '../../reasons/cure.ts';
import { courseOf, type Reason } from '../../reasons/reasons.ts';
import type { Failure } from '../../requests/refusals.ts';
import { timestamp } from '../../time/timestamp.ts';
import { targetOf } from '../act/act.ts';
import { decide } from '../decide/decide.ts';
import { saysItFits } from '../decide/rules/space/free-space.ts';
import type { ActionKind } from '../know/action.ts';
import type { Decision } from '../know/decision.ts';
import type { Observation, Slot } from '../know/observation.ts';
import { lastingly } from '../know/set-aside.ts';
import { type Situation, situate } from '../know/situation.ts';
import { laterThan } from './patience.ts';
import { carryOut } from './run.ts';
import { settle } from './settle.ts';
import { reported, simulate } from './simulate.ts';
import { traceOf } from './trace.ts';

/** One thing that would be done. */
export interface PlannedStep {
  readonly action: ActionKind;
  readonly target?: string;
  readonly reason: Reason;
  readonly message: string;
  /** A member is started anew with it. */
  readonly restarts?: true;
  /** A window of `spec.maintenance` opens then, or a soak is over. RFC 3339; the message says it, too. */
  readonly notBefore?: string;
}

export type PlanEnd =
  | { readonly kind: 'done'; readonly reason: Reason; readonly message: string }
  /** A person must do something; `cure` says what. */
  | { readonly kind: 'refused'; readonly reason: Reason; readonly message: string; readonly cure: string }
  /** For something that may or may not happen, so no step can be foreseen. */
  | { readonly kind: 'waits'; readonly reason: Reason; readonly message: string }
  /** The same steps would repeat for ever: a defect of etcd-ratchet, reported instead of hidden. */
  | { readonly kind: 'circles'; readonly reason: Reason; readonly message: string }
  /** Longer than a plan may be. */
  | { readonly kind: 'goes-on'; readonly reason: Reason; readonly message: string };

/** The steps from here to convergence, if nothing fails and no one interferes. */
export interface Plan {
  readonly steps: readonly PlannedStep[];
  readonly end: PlanEnd;
  /** What would be seen then. */
  readonly outcome: Observation;
}

/** Nine members, each replaced and rolled more than once, take fewer. */
const mostSteps = 250;
/** Moments at which something may be awaited, between two steps. */
const mostWaits = 40;

/**
 * Pure, bounded, and never throws for what is observed.
 *
 * @param decideBy other rules than ours; for tests
 */
export function plan(observation: Observation, decideBy: (seen: Observation) => Decision = decide): Plan {
  const steps: PlannedStep[] = [];
  const seen = new Set<string>();
  let now = lastingly(observation);
  let waits = 0;
  let opensAt: Date | undefined;
  for (;;) {
    const situation = situate(now);
    const decision = decideBy(situation);
    const end = endOf(decision, now);
    if (end) return { steps, end: isUnsureOf(steps, end) ? triedFirst(end) : end, outcome: now };
    const { reason, message } = decision;
    if (decision.kind === 'act') {
      const trace = `${reason} ${targetOf(decision.action)} ${traceOf(now)}`;
      const { moments, failure } = carryOut(decision.action, now);
      const isStuck = failure && (moments.length === 1 || seen.has(trace));
      if (isStuck) return { steps: [...steps, stepOf(decision)], end: stuckAt(failure), outcome: now };
      if (seen.has(trace)) return { steps, end: { kind: 'circles', reason, message }, outcome: now };
      if (steps.length === mostSteps) return { steps, end: { kind: 'goes-on', reason, message }, outcome: now };
      seen.add(trace);
      const waited = isHeldByWindows(decision) ? opensAt : undefined;
      steps.push(stepOf(decision, waited));
      if (waited) opensAt = undefined;
      now = settle(reported({ ...(moments.at(-1) ?? now), lease: { kind: 'free' } }, situation, decision));
      waits = 0;
      if (isGone(now)) return { steps, end: gone, outcome: now };
      const open = awaitedAfter(decision, situation);
      if (open) return { steps, end: open, outcome: now };
      continue;
    }
    const told = reported(now, situation, decision);
    const settled = simulate(told, decision);
    waits += 1;
    if (settled !== told && waits < mostWaits) {
      now = settled;
      continue;
    }
    const at = waits < mostWaits ? laterThan(told, decision) : undefined;
    if (!at) return { steps, end: { kind: 'waits', reason, message }, outcome: told };
    if (reason === 'OutsideWindows' || reason === 'Soaking') opensAt = at;
    now = {
      ...withReportsAt(told, at),
      at,
      ...(told.lease.kind === 'held' && at >= told.lease.until && { lease: { kind: 'free' } }),
    };
  }
}

/** What else became due until the window opens, as certificates do, would not have waited for it. */
function isHeldByWindows({ action, reason }: Extract<Decision, { kind: 'act' }>): boolean {
  return action.kind === 'back-up' || ['rolls', 'disrupts'].includes(courseOf(reason) ?? '');
}

function stepOf({ action, reason, message }: Extract<Decision, { kind: 'act' }>, opensAt?: Date): PlannedStep {
  const target = targetOf(action);
  const restarts = action.kind === 'change-template' && action.restart !== undefined;
  const notBefore = opensAt && timestamp(opensAt);
  return {
    action: action.kind,
    ...(target !== undefined && target !== '' && { target }),
    reason,
    message: notBefore === undefined ? message : `not before ${notBefore}: ${message}`,
    ...(restarts && { restarts }),
    ...(notBefore !== undefined && { notBefore }),
  };
}

/** An action that finds nothing that it may do: what it says is what is waited for, or what a person must do. */
function stuckAt({ class: kind, reason, message }: Failure): PlanEnd {
  return kind === 'terminal' ? { kind: 'refused', reason, ...toldIn(message) } : { kind: 'waits', reason, message };
}

function endOf(decision: Decision, { cluster }: Observation): PlanEnd | undefined {
  const { reason, message } = decision;
  switch (decision.kind) {
    case 'done':
      return cluster.metadata.deletionTimestamp === undefined
        ? { kind: 'done', reason, message }
        : { ...gone, message };
    case 'refuse':
      return { kind: 'refused', reason, message, cure: decision.cure };
    case 'act':
    case 'wait':
      return undefined;
  }
}

const gone: PlanEnd = {
  kind: 'done',
  reason: 'Deleted',
  message: 'the resource is gone, with everything to be deleted with it',
};

/** The last finalizer of a resource that is being deleted was what kept it. */
function isGone({ cluster }: Observation): boolean {
  const { deletionTimestamp, finalizers = [] } = cluster.metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0;
}

/** Whether a pod that is made anew fares better on the same disk and node cannot be foreseen. */
function isUnsureOf(steps: readonly PlannedStep[], end: PlanEnd): boolean {
  return end.kind === 'refused' && steps.at(-1)?.action === 'recreate-pod';
}

function triedFirst({ reason }: PlanEnd): PlanEnd {
  return { kind: 'waits', reason, message: 'whether its new pod fares better is known when it has been made' };
}

/** Where members do not count what a compaction freed, one is rewritten to find it out. */
function awaitedAfter(
  { action, reason }: Extract<Decision, { kind: 'act' }>,
  situation: Situation,
): PlanEnd | undefined {
  const findsOut = action.kind === 'defragment-member' && reason === 'NoSpace' && !saysItFits(situation);
  if (action.kind !== 'compact' && !findsOut) return undefined;
  return { kind: 'waits', reason, message: 'how much space that frees is known when it is done' };
}

/** A reported warning repeats for as long as it lasts; that it passes cannot be foreseen. */
function withReportsAt(observation: Observation, at: Date): Observation {
  if (!observation.slots.some(({ warnings = [] }) => warnings.length > 0)) return observation;
  return { ...observation, slots: observation.slots.map((slot) => repeated(slot, at)) };
}

function repeated(slot: Slot, at: Date): Slot {
  return slot.warnings ? { ...slot, warnings: slot.warnings.map((warning) => ({ ...warning, at })) } : slot;
}
