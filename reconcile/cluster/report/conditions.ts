import { withCure } from '../../reasons/cure.ts';
import { courseOf, meaningOf, type Reason } from '../../reasons/reasons.ts';
import { mentioning, runbookOf } from '../../reasons/runbook.ts';
import type { Decision } from '../know/decision.ts';
import type { Outage } from '../know/outage.ts';
import type { Outcome } from '../know/outcome.ts';
import type { Statement } from '../know/statement.ts';
import { cureOfRepeated } from './set-aside-after.ts';

/** What stands beside a decision: it is told whatever the decision waits for. */
interface Facts {
  readonly outage?: Outage | undefined;
  readonly allHealthy: boolean;
  /** Its action has failed for so long that a person is told. */
  readonly failsForLong?: boolean;
}

/**
 * Conditions that mean the same to every tool (kstatus): `Ready` always; `Reconciling` and `Stalled` only while true,
 * never both; and `SetAside`, what is left to a person meanwhile.
 *
 * @param decision what goes on after the step (`goingOn`)
 */
export function statementsFor(decision: Decision, outcome: Outcome, facts: Facts): readonly Statement[] {
  return [...progress(decision, outcome, facts), ...besides(decision)];
}

/** What a person must see to while the rest goes on; no tool but ours reads it. */
function besides({ besides: all = [] }: Decision): readonly Statement[] {
  const [first] = all;
  if (!first) return [];
  const message = all.map(inFull).join('. Also: ');
  return [{ type: 'SetAside', status: 'True', reason: first.reason, message }];
}

/** What is, where to read more, and what to do: a command, or an approval, stays the last word. */
function inFull({ reason, message, cure }: { reason: Reason; message: string; cure: string }): string {
  const page = runbookOf(reason);
  return withCure(page === undefined ? message : mentioning(message, page), cure);
}

function progress(decision: Decision, outcome: Outcome, facts: Facts): readonly Statement[] {
  const { outage } = facts;
  // An action that was refused for good is set aside: the next decision, without it, tells of it.
  if (outcome.kind === 'failed' && outcome.failure.class !== 'terminal') {
    const reason = 'ProgressingWithRetry';
    const message = afterOutage(reason, outcome.failure.message, outage);
    if (!facts.failsForLong) return reconciling(reason, message);
    return stalled(reason, inFull({ reason, message, cure: cureOfRepeated(outcome.failure) }));
  }
  const { reason } = decision;
  const message = afterOutage(reason, decision.message, outage);
  switch (decision.kind) {
    case 'act':
    case 'wait':
      return reconciling(reason, message);
    case 'refuse':
      return stalled(reason, inFull({ ...decision, message }));
    case 'done':
      return finished(reason, message, facts);
  }
}

/** An outage is said first: no wait, and no other refusal, may hide it. */
function afterOutage(reason: Reason, message: string, outage: Outage | undefined): string {
  return outage && meaningOf(reason)?.tells !== outage.reason ? `${outage.message}; ${message}` : message;
}

function finished(reason: Reason, message: string, { outage, allHealthy }: Facts): readonly Statement[] {
  if (reason === 'BeingDeleted') return reconciling(reason, message);
  // Nothing ends this outage before a person lets steps be taken again.
  if (outage && courseOf(reason) === 'stopped') return stalled(reason, message);
  const isReady = !outage && (courseOf(reason) === 'rests' || allHealthy);
  return [{ type: 'Ready', status: isReady ? 'True' : 'False', reason, message }];
}

function reconciling(reason: Reason, message: string): readonly Statement[] {
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Reconciling', status: 'True', reason, message },
  ];
}

function stalled(reason: Reason, message: string): readonly Statement[] {
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Stalled', status: 'True', reason, message },
  ];
}
