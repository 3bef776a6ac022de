import assert from 'node:assert/strict';
import { definitionOf } from '../../../../reconcile/cluster/act/act.ts';
import { leasedOf } from '../../../../reconcile/cluster/act/actions/define.ts';
import { behaviourOf } from '../../../../reconcile/cluster/act/requests/all.ts';
import { type Answered, standingAfter } from '../../../../reconcile/cluster/act/requests/program.ts';
import type { Written } from '../../../../reconcile/cluster/act/requests/request.ts';
import { observationHost } from '../../../../reconcile/cluster/foresee/host.ts';
import { settle } from '../../../../reconcile/cluster/foresee/settle.ts';
import type { Action } from '../../../../reconcile/cluster/know/action.ts';
import type { Observation } from '../../../../reconcile/cluster/know/observation.ts';
import { StepError } from '../../../../reconcile/cluster/know/outcome.ts';
import type { Reason } from '../../../../reconcile/reasons/reasons.ts';

/** What an action changed, in order, like `writeRecord orders-1`, and how it ended: `done`, or the reason why not. */
export interface Sent {
  readonly writes: readonly string[];
  readonly ended: string;
  /** Of all requests, reads included. */
  readonly asked: readonly string[];
}

/**
 * Runs the program of an action on the world as it is observed, which need not be one in which any rule would begin it.
 */
export function sentBy(action: Action, observation: Observation): Sent {
  const definition = definitionOf(action);
  if (!definition) throw new Error(`${action.kind} is no program`);
  const answers: Answered[] = [];
  const asked: string[] = [];
  const writes: string[] = [];
  for (let now = observation; ; ) {
    const { position } = standingAfter(definition.run(action as never, leasedOf(observation.cluster)), answers);
    if (position.kind === 'done') return { writes, asked, ended: 'done' };
    if (position.kind === 'ended') return { writes, asked, ended: position.failure.reason };
    const { kind, ask } = position.request;
    const behaviour = behaviourOf(kind);
    try {
      const done = behaviour.model(now, ask, observationHost);
      if (done === 'wait') {
        const settled = settle(now);
        if (settled === now) return { writes, asked, ended: 'waits' };
        now = settled;
        continue;
      }
      const what = named(kind, ask, behaviour.writes?.(ask));
      asked.push(what);
      if (behaviour.writes) writes.push(what);
      now = done.state;
      answers.push({ answer: done.answer });
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      answers.push({ refused: error.failure });
    }
  }
}

function named(kind: string, ask: unknown, written: Written | undefined): string {
  const about = written?.name ?? (ask as { readonly name?: string }).name;
  return about === undefined ? kind : `${kind} ${about}`;
}

/** It looked again, found the world another one than was decided about, and changed nothing. */
export function assertStopped({ writes, ended }: Sent, reason: Reason = 'WorldMoved'): void {
  assert.deepEqual({ writes, ended }, { writes: [], ended: reason });
}
