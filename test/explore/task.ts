import type { Found, Searched } from './search/search.ts';

/** What a worker is told, and what it tells: scenarios go by their names, because a world does not have to travel. */
export interface Task {
  readonly scenario: string;
  /** A seeded bug, by its name. */
  readonly bug?: string;
  readonly states: number;
  /** Milliseconds. */
  readonly time: number;
}

export interface Done extends Searched {
  readonly scenario: string;
  /** Milliseconds. */
  readonly took: number;
}

export interface Totals {
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  readonly violations: number;
  readonly complete: number;
  /** That time cut short. */
  readonly late: readonly string[];
  readonly scenarios: number;
}

export function totalsOf(all: readonly Done[]): Totals {
  const sum = (of: (one: Done) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    states: sum(({ states }) => states),
    transitions: sum(({ transitions }) => transitions),
    depth: Math.max(0, ...all.map(({ depth }) => depth)),
    violations: sum(({ found }) => (found ? 1 : 0)),
    complete: sum(({ complete }) => (complete ? 1 : 0)),
    late: all.flatMap(({ cut, scenario }) => (cut === 'time' ? [scenario] : [])),
    scenarios: all.length,
  };
}

export type { Found };
