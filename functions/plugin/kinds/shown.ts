import type { KubeObject } from '../../../reconcile/interfaces/kube.ts';
import type { Concern } from '../../page/attention.ts';
import type { State, Tone } from '../../page/state.ts';
import type { General } from '../words.ts';

/** What a person is shown of a kind: one row of the table of kinds. */
export interface ShownKind<T extends KubeObject = KubeObject> {
  state(object: T): State;
  /** What a person should know of it now, the most urgent first. Absent: its state alone, unless it is well. */
  concerns?(object: T, now: Date): readonly Concern[];
  /** What a reason of it says in general. */
  meaningOf(reason: string): General | undefined;
  /** Facts that help to understand it, one a line. */
  facts(object: T, now: Date): readonly Fact[];
  /** What was done, in any order. */
  past(object: T): readonly Past[];
}

export type Fact = readonly [label: string, said: string];

/** One thing that was done, or that became so. */
export interface Past {
  readonly at: string;
  readonly what: string;
  readonly outcome: string;
  readonly tone: Tone;
  readonly reason?: string;
  readonly message?: string;
}

/** Of those that are known. */
export function factsOf(...all: readonly (readonly [label: string, said: string | undefined])[]): readonly Fact[] {
  return all.flatMap(([label, said]) => (said === undefined || said === '' ? [] : [[label, said] as const]));
}

/** What has a time only. */
export function pastOf(
  ...all: readonly (readonly [at: string | undefined, what: string, message?: string | undefined])[]
): readonly Past[] {
  return all.flatMap(([at, what, message]) =>
    at === undefined ? [] : [{ at, what, outcome: 'done', tone: 'good' as const, ...(message && { message }) }],
  );
}

/** In a table of reasons of its kind. */
export function meaningIn(meanings: Readonly<Record<string, General>>): (reason: string) => General | undefined {
  return (reason) => (Object.hasOwn(meanings, reason) ? meanings[reason] : undefined);
}
