import { diff3Merge } from 'node-diff3';

export type MergedText =
  | { readonly kind: 'merged'; readonly bytes: Uint8Array }
  /** `line`: of the target's file, from 1; 0 where no line is meant. */
  | { readonly kind: 'conflict'; readonly line: number; readonly because: string };

/** Bytes of one file that is merged line by line. */
const maxBytes = 1024 * 1024;
/** Pairs of lines that a diff may compare, about a quarter of a second: a file of one repeated line is easy to make. */
const maxPairs = 50_000_000;

/** Joins what two sides made of one file. What both changed in the same place is a conflict, as for Git itself. */
export function mergeText(base: Uint8Array, head: Uint8Array, target: Uint8Array): MergedText {
  const texts = [base, head, target].map(asText);
  const [o, a, b] = texts;
  if (o === undefined || a === undefined || b === undefined)
    return conflict(0, 'both sides changed it, and it is not text of at most 1 MiB');

  const lines = [linesOf(o), linesOf(a), linesOf(b)] as const;
  const { start, end } = commonEnds(lines);
  const [middleO, middleA, middleB] = lines.map((all) => all.slice(start, all.length - end)) as [
    string[],
    string[],
    string[],
  ];
  if (pairs(middleO, middleA) + pairs(middleO, middleB) > maxPairs)
    return conflict(0, 'both sides changed too much of it to be merged here');

  const merged: string[] = [];
  let line = start + 1;
  for (const region of diff3Merge(middleA, middleO, middleB, { excludeFalseConflicts: true })) {
    if (region.conflict) return conflict(line, 'both sides changed the same lines');
    merged.push(...(region.ok ?? []));
    line += region.ok?.length ?? 0;
  }
  const [first] = lines;
  const whole = [...first.slice(0, start), ...merged, ...first.slice(first.length - end)];
  return { kind: 'merged', bytes: Buffer.from(whole.join('')) };
}

function conflict(line: number, because: string): MergedText {
  return { kind: 'conflict', line, because };
}

function asText(bytes: Uint8Array): string | undefined {
  if (bytes.length > maxBytes) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined; // not UTF-8: nothing that could be merged by lines
  }
}

/** With their ends, so that a last line without one differs from the same line with one. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Unchanged lines at the beginning and the end; only what is between them is compared. */
function commonEnds(files: readonly (readonly string[])[]): { readonly start: number; readonly end: number } {
  const [first = [], ...others] = files;
  const least = Math.min(...files.map(({ length }) => length));
  let start = 0;
  while (start < least && others.every((other) => other[start] === first[start])) start++;
  let end = 0;
  while (end < least - start && others.every((other) => other.at(-1 - end) === first.at(-1 - end))) end++;
  // A neighbour on each side stays: changes that touch are one place.
  return { start: Math.max(0, start - 1), end: Math.max(0, end - 1) };
}

function pairs(a: readonly string[], b: readonly string[]): number {
  return a.length * Math.min(a.length, b.length) + matches(a, b);
}

function matches(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of b) counts.set(line, (counts.get(line) ?? 0) + 1);
  return a.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0);
}
