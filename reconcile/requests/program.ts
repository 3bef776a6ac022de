/**
 * An action as its requests: in order, but for those side by side. No clock, no randomness, no I/O. One program runs
 * against real parts (`live.ts`), for a plan (`play.ts`), and in the search of `npm run explore`, which kills, delays
 * and reorders at every request (`standing.ts`).
 */
export type Program<R = void> = Generator<Yielded, R, unknown>;

type Yielded = Request | SideBySide;

/** One question, or one write: plain data. What it does is said by its definition, which a table has under its kind. */
export interface Request {
  readonly kind: string;
  readonly ask: unknown;
}

/** Programs whose requests may be answered in any order, and of which any may not be. */
export interface SideBySide {
  readonly sideBySide: readonly Program<unknown>[];
}

type ResultOf<P> = P extends Program<infer R> ? R : never;

/** All of them, side by side. When one fails, the others still run to their ends. */
export function* together<T extends Readonly<Record<string, Program<unknown>>>>(
  parts: T,
): Program<{ readonly [K in keyof T]: ResultOf<T[K]> }> {
  const results = (yield { sideBySide: Object.values(parts) }) as readonly unknown[];
  return Object.fromEntries(Object.keys(parts).map((name, index) => [name, results[index]])) as {
    readonly [K in keyof T]: ResultOf<T[K]>;
  };
}

/** The same for each of these, side by side. */
export function* each<T, R>(things: readonly T[], program: (thing: T) => Program<R>): Program<readonly R[]> {
  return (yield { sideBySide: things.map(program) }) as readonly R[];
}
