import { withCure } from '../../reasons/cure.ts';
import { courseOf, type Reason } from '../../reasons/reasons.ts';
import { runbookOf } from '../../reasons/runbook.ts';
import { mentioning } from '../../reasons/runbook-mention.ts';
import type { Decision } from '../know/decision.ts';
import type { Outcome } from '../know/outcome.ts';
import type { Statement } from '../know/statement.ts';

/**
 * Conditions that mean the same to every tool (kstatus): `Ready` always; `Reconciling` and `Stalled` only while true,
 * never both; `SetAside`, what is left to a person meanwhile; and `Available`, whether a quorum serves.
 *
 * @param decision what goes on after the step (`goingOn`)
 */
export function statementsFor(
  decision: Decision,
  outcome: Outcome,
  facts: { readonly serving: boolean; readonly allHealthy: boolean; readonly cause: string },
): readonly Statement[] {
  return [...progress(decision, outcome, facts.allHealthy), ...besides(decision), availability(facts)];
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

function progress(decision: Decision, outcome: Outcome, allHealthy: boolean): readonly Statement[] {
  // One that was refused for good is told by what is decided without it.
  if (outcome.kind === 'failed' && outcome.failure.class !== 'terminal') {
    return reconciling('ProgressingWithRetry', outcome.failure.message);
  }
  switch (decision.kind) {
    case 'act':
    case 'wait':
      return reconciling(decision.reason, decision.message);
    case 'refuse':
      return stalled(decision.reason, inFull(decision));
    case 'done':
      return finished(decision.reason, decision.message, allHealthy);
  }
}

function finished(reason: Reason, message: string, allHealthy: boolean): readonly Statement[] {
  if (reason === 'BeingDeleted') return reconciling(reason, message);
  return [{ type: 'Ready', status: courseOf(reason) === 'rests' || allHealthy ? 'True' : 'False', reason, message }];
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

function availability({ serving, cause }: { readonly serving: boolean; readonly cause: string }): Statement {
  return serving
    ? { type: 'Available', status: 'True', reason: 'QuorumServes', message: 'a quorum of the members serves' }
    : { type: 'Available', status: 'False', reason: 'NoQuorum', message: `no quorum answers: ${cause}` };
}
