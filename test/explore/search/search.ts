import type { Fingerprint } from './fingerprint.ts';
import { createSeen } from './seen.ts';

/** What can be searched: states as plain data, and what may happen in each. */
export interface Model<S, E> {
  readonly initial: S;
  readonly fingerprint: (state: S) => Fingerprint;
  /** Calls `visit` once for everything that may happen next, always in the same order. */
  readonly successors: (state: S, visit: Visit<S, E>) => void;
  /** The violation by this event, or by the state that it leads to; `undefined`: none. */
  readonly judge: (before: S, event: E, after: S) => Violation | undefined;
  /** The violation by a state alone: asked once for each that is new. */
  readonly examine: (state: S) => Violation | undefined;
  readonly describe: (event: E) => string;
}

export type Visit<S, E> = (event: E, after: S) => void;

export interface Violation {
  /** `I1` … `I12`, or `convergence`. */
  readonly invariant: string;
  readonly message: string;
}

export interface Found {
  readonly violation: Violation;
  /** One line an event: the shortest way from the beginning to the violation. */
  readonly story: readonly string[];
}

export interface Searched {
  readonly states: number;
  readonly transitions: number;
  /** Events from the beginning to the farthest state. */
  readonly depth: number;
  /**
   * `true`: there is nothing more to be reached; `false`: the limit came first, and all up to `depth - 1` was searched.
   */
  readonly complete: boolean;
  /** Which limit came first. */
  readonly cut?: 'states' | 'time';
  readonly found?: Found;
}

export interface Limits {
  readonly states: number;
  /** Milliseconds by a monotonic clock, for this search. */
  readonly time: number;
}

interface Origin {
  readonly parent: number;
  /** Which of its parent's successors it was. */
  readonly turn: number;
}

/**
 * Breadth first: every state that can be reached, the nearest first, so that the first violation has the shortest
 * story. Of a state that was gone through, only its fingerprint and its origin are kept; its story is found by going
 * the same way again.
 */
export function search<S, E>(model: Model<S, E>, limits: Limits): Searched {
  const end = performance.now() + limits.time;
  const seen = createSeen();
  const parents = growing();
  const turns = growing();
  let level: S[] = [model.initial];
  let transitions = 0;
  let depth = 0;
  let first = 0;
  seen.add(model.fingerprint(model.initial));
  parents.push(-1);
  turns.push(-1);
  const unsound = model.examine(model.initial);
  if (unsound) return result(true, { violation: unsound, story: [] });

  while (level.length > 0) {
    const next: S[] = [];
    for (const [offset, state] of level.entries()) {
      const parent = first + offset;
      let turn = 0;
      let broken: { readonly violation: Violation; readonly turn: number } | undefined;
      model.successors(state, (event, after) => {
        const mine = turn;
        turn += 1;
        if (broken) return;
        transitions += 1;
        const wrong = model.judge(state, event, after);
        if (wrong) {
          broken = { violation: wrong, turn: mine };
          return;
        }
        if (seen.add(model.fingerprint(after)) < 0) return;
        parents.push(parent);
        turns.push(mine);
        next.push(after);
        const bad = model.examine(after);
        if (bad) broken = { violation: bad, turn: mine };
      });
      if (broken) {
        depth += 1;
        return result(false, { violation: broken.violation, story: storyTo(parent, broken.turn) });
      }
      if (seen.size >= limits.states || ((parent & 63) === 0 && performance.now() > end)) {
        depth += 1;
        return { ...result(false), cut: seen.size >= limits.states ? 'states' : 'time' };
      }
    }
    first += level.length;
    level = next;
    if (level.length > 0) depth += 1;
  }
  return result(true);

  function result(complete: boolean, found?: Found): Searched {
    return { states: seen.size, transitions, depth, complete, ...(found && { found }) };
  }

  function storyTo(parent: number, turn: number): readonly string[] {
    const way: Origin[] = [{ parent, turn }];
    for (let at = parent; at > 0; at = parents.at(at)) way.push({ parent: parents.at(at), turn: turns.at(at) });
    return retell(
      model,
      way.reverse().map((origin) => origin.turn),
    );
  }
}

/** The events along a way that is told by which of its successors each state was followed by. */
export function retell<S, E>(model: Model<S, E>, way: readonly number[]): readonly string[] {
  const story: string[] = [];
  let state = model.initial;
  for (const wanted of way) {
    let turn = 0;
    let followed: S | undefined;
    model.successors(state, (event, after) => {
      if (turn === wanted) {
        story.push(model.describe(event));
        followed = after;
      }
      turn += 1;
    });
    if (followed === undefined) return story;
    state = followed;
  }
  return story;
}

/** Numbers, one after the other, without a limit that has to be known before. */
function growing(): { push(value: number): void; at(index: number): number } {
  let items = new Int32Array(1 << 12);
  let length = 0;
  return {
    push: (value) => {
      if (length === items.length) {
        const larger = new Int32Array(items.length * 2);
        larger.set(items);
        items = larger;
      }
      items[length] = value;
      length += 1;
    },
    at: (index) => items[index] ?? -1,
  };
}
