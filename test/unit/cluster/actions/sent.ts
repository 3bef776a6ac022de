import assert from 'node:assert/strict';
import { definitionOf } from '../../../../reconcile/cluster/act/act.ts';
import { leasedOf } from '../../../../reconcile/cluster/act/actions/define.ts';
import { requests } from '../../../../reconcile/cluster/act/requests/all.ts';
import type { Written } from '../../../../reconcile/cluster/act/requests/request.ts';
import { observationHost } from '../../../../reconcile/cluster/foresee/host.ts';
import { settle } from '../../../../reconcile/cluster/foresee/settle.ts';
import type { Action } from '../../../../reconcile/cluster/know/action.ts';
import type { Observation } from '../../../../reconcile/cluster/know/observation.ts';
import type { Reason } from '../../../../reconcile/reasons/reasons.ts';
import { writtenBy } from '../../../../reconcile/requests/define.ts';
import { play } from '../../../../reconcile/requests/play.ts';
import type { Request } from '../../../../reconcile/requests/program.ts';

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
  const asked: string[] = [];
  const writes: string[] = [];
  const played = playedOut(action, observation, (request) => {
    const written = writtenBy(request, requests);
    const what = named(request, written);
    asked.push(what);
    if (written) writes.push(what);
  });
  const ended = played.kind === 'ended' ? played.failure.reason : played.kind;
  return { writes, asked, ended };
}

/** What it leaves. */
export function leftBy(action: Action, observation: Observation): Observation {
  return playedOut(action, observation, () => undefined).state;
}

function playedOut(action: Action, observation: Observation, onAnswered: (request: Request) => void) {
  const definition = definitionOf(action);
  if (!definition) throw new Error(`${action.kind} is no program`);
  const program = definition.run(action as never, leasedOf(observation.cluster));
  return play(program, requests, observation, observationHost, { settle, onAnswered });
}

function named({ kind, ask }: Request, written: Written | undefined): string {
  const about = written?.name ?? (ask as { readonly name?: string }).name;
  return about === undefined ? kind : `${kind} ${about}`;
}

/** It looked again, found the world another one than was decided about, and changed nothing. */
export function assertStopped({ writes, ended }: Sent, reason: Reason = 'WorldMoved'): void {
  assert.deepEqual({ writes, ended }, { writes: [], ended: reason });
}
