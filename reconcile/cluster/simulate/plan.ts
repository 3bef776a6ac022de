import { targetOf } from '../action-target.ts';
import type { ActionKind } from '../actions.ts';
import { decide, situate } from '../decide.ts';
import type { Decision } from '../decision.ts';
import type { Observation } from '../observation.ts';
import { lastingly } from '../set-aside.ts';
import { laterThan } from './patience.ts';
import { withReportsAt } from './reports.ts';
import { reported, simulate } from './simulate.ts';
import { traceOf } from './trace.ts';

/** One thing that would be done. */
export interface PlannedStep {
  readonly action: ActionKind;
  readonly target?: string;
  readonly reason: string;
  readonly message: string;
}

export type PlanEnd =
  | { readonly kind: 'done'; readonly reason: string; readonly message: string }
  /** A person must do something; `cure` says what. */
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string; readonly cure: string }
  /** For something that may or may not come: nobody can promise it. */
  | { readonly kind: 'waits'; readonly reason: string; readonly message: string }
  /** The same would be done again and again: a defect of ours, told instead of hidden. */
  | { readonly kind: 'circles'; readonly reason: string; readonly message: string }
  /** Longer than anybody would read. */
  | { readonly kind: 'goes-on'; readonly reason: string; readonly message: string };

/** The steps from here to convergence, if nothing fails and nobody changes anything. */
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
  for (;;) {
    const situation = situate(now);
    const decision = decideBy(situation);
    const end = endOf(decision, now);
    if (end) return { steps, end, outcome: now };
    const { reason, message } = decision;
    if (decision.kind === 'act') {
      const trace = `${reason} ${targetOf(decision.action)} ${traceOf(now)}`;
      if (seen.has(trace)) return { steps, end: { kind: 'circles', reason, message }, outcome: now };
      if (steps.length === mostSteps) return { steps, end: { kind: 'goes-on', reason, message }, outcome: now };
      seen.add(trace);
      steps.push(stepOf(decision));
      now = simulate(now, decision);
      waits = 0;
      if (isGone(now)) return { steps, end: gone, outcome: now };
      const open = awaitedAfter(decision);
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
    now = {
      ...withReportsAt(told, at),
      at,
      ...(told.claim.kind === 'held' && at >= told.claim.until && { claim: { kind: 'free' } }),
    };
  }
}

function stepOf({ action, reason, message }: Extract<Decision, { kind: 'act' }>): PlannedStep {
  const target = targetOf(action);
  return { action: action.kind, ...(target !== undefined && target !== '' && { target }), reason, message };
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

const gone: PlanEnd = { kind: 'done', reason: 'Deleted', message: 'the resource is gone, and what was to go with it' };

/** The last finalizer of a resource that is being deleted was what kept it. */
function isGone({ cluster }: Observation): boolean {
  const { deletionTimestamp, finalizers = [] } = cluster.metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0;
}

function awaitedAfter({ action, reason }: Extract<Decision, { kind: 'act' }>): PlanEnd | undefined {
  if (action.kind !== 'compact') return undefined;
  return { kind: 'waits', reason, message: 'how much room that makes is seen when it is done' };
}
