/** In the format that instances are told: seconds since 1970, a level, and what Patroni says. */
const line = /^(\d+\.\d+) (\w+): (.*)$/gm;

/** When the leader renewed its key in etcd: it says so after each loop in which nothing else was to do. */
export function renewalsIn(log: string): readonly number[] {
  return entriesOf(log)
    .filter(({ words }) => /^no action\. I am \(.*\), the leader with the lock$/.test(words))
    .map(({ at }) => at);
}

export interface Refusal {
  readonly at: number;
  /** The name of Python's error: the innermost one. */
  readonly why: string;
}

/** Requests that etcd did not answer, or that it broke off. */
export function refusalsIn(log: string): readonly Refusal[] {
  return entriesOf(log)
    .filter(({ words }) => /^Request to server .* failed: /.test(words))
    .map(({ at, words }) => ({ at, why: [...words.matchAll(/(\w+Error)\(/g)].at(-1)?.[1] ?? words }));
}

function entriesOf(log: string): readonly { readonly at: number; readonly words: string }[] {
  return [...log.matchAll(line)].map(([, at, , words = '']) => ({ at: Number(at), words }));
}

/** How often it happened, and the longest without it, in seconds: from the last time before `began` up to `now`. */
export function spellsOf(
  times: readonly number[],
  { began, now }: { readonly began: number; readonly now: number },
): { readonly count: number; readonly longest: number } {
  const all = times.toSorted((a, b) => a - b);
  const within = all.filter((at) => at >= began);
  const marks = [all.findLast((at) => at < began) ?? began, ...within, now];
  const spells = marks.slice(1).map((at, index) => at - (marks[index] ?? at));
  return { count: within.length, longest: Math.max(...spells) };
}
