import type { Wanted } from './catalogue.ts';

/** How far a list of builds is, and what is left of it by this machine's own speed. */
export interface Estimate {
  /** Each call of the result tells that one more of so many packages of a group is compiled. */
  compiled(group: readonly Wanted[], packages: number): () => void;
  done(group: readonly Wanted[]): void;
  /** Seconds, `undefined` until the machine's speed is known. */
  left(): number | undefined;
}

/** Nothing is promised before. Seconds. */
const leastElapsed = 20;
/** A promise that is kept early disappoints nobody. */
const caution = 1.25;
/** Large packages need many others, so they come late, and links come last. */
const share = (fraction: number) => 0.9 * fraction ** 2;

/** @param now in milliseconds */
export function estimateOf(groups: readonly (readonly Wanted[])[], now = () => performance.now()): Estimate {
  const started = now();
  const parts = new Map(
    groups.flatMap((group) => {
      const part = { seconds: group.reduce((sum, { buildSeconds }) => sum + buildSeconds, 0), fraction: 0 };
      return group.map((one) => [one, part] as const);
    }),
  );
  const partOf = ([first]: readonly Wanted[]) => (first === undefined ? undefined : parts.get(first));
  const reach = (group: readonly Wanted[], fraction: number) => {
    const part = partOf(group);
    if (part) part.fraction = fraction;
  };
  return {
    compiled(group, packages) {
      let count = 0;
      return () => {
        count += 1;
        reach(group, share(Math.min(1, count / packages)));
      };
    },
    done: (group) => reach(group, 1),
    left() {
      const elapsed = (now() - started) / 1000;
      const all = [...new Set(parts.values())];
      const whole = all.reduce((sum, { seconds }) => sum + seconds, 0);
      const done = all.reduce((sum, { seconds, fraction }) => sum + seconds * fraction, 0);
      if (elapsed < leastElapsed || done === 0) return undefined;
      return ((whole - done) / done) * elapsed * caution;
    },
  };
}
