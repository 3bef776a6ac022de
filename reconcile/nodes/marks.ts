import type { Node } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { timestamp } from '../time/timestamp.ts';

/**
 * How far the reboot of a node is, as annotations of the Node: `<time> <word>`. An unreadable mark does not count, and
 * none gives a right: a node without a grant in the policy's `status.grants` is left alone.
 */
export interface Mark {
  readonly at: Date;
  readonly word: string;
}

export interface Marks {
  /** Word: the ID of the grant. Only with it the next ones count. */
  readonly granted?: Mark;
  /** Word: `by-us`, or `before` where the node was cordoned already, and stays so. */
  readonly cordoned?: Mark;
  /** Word: the UID of the Job that may reboot it; of method External the ID of the grant. */
  readonly now?: Mark;
  /** Word: the boot that the Job ended. */
  readonly inProgress?: Mark;
  /** Word: the boot that came after it. */
  readonly returned?: Mark;
  /** Word: the ID of the grant that came to its end. */
  readonly done?: Mark;
  /** Word: the reason. */
  readonly putOff?: Mark;
  /** Word: what the last look for the sentinel came to. Of no way, so it stays. */
  readonly looked?: Mark;
}

/** API servers' clocks differ: a mark from later than this is a stranger's. Milliseconds. */
export const clockSkew = 5 * 60_000;

const names = {
  granted: annotations.rebootGranted,
  cordoned: annotations.rebootCordoned,
  now: annotations.rebootNow,
  inProgress: annotations.rebootInProgress,
  returned: annotations.rebootReturned,
  done: annotations.rebootDone,
  putOff: annotations.rebootPutOff,
  looked: annotations.rebootLooked,
} as const satisfies Record<keyof Marks, string>;

const shape = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z) ([!-~]{1,128})$/;

export function marksOf({ metadata }: Pick<Node, 'metadata'>): Marks {
  const found = Object.entries(names).flatMap(([key, name]) => {
    const mark = readMark(metadata.annotations?.[name]);
    return mark ? [[key, mark] as const] : [];
  });
  return Object.fromEntries(found);
}

function readMark(text: string | undefined): Mark | undefined {
  const [, time = '', word = ''] = shape.exec(text ?? '') ?? [];
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? undefined : { at, word };
}

/** What a Node bears after a change: marks that are set, and marks that are taken away. */
export type MarkChange = Readonly<Partial<Record<keyof Marks, string | undefined>>>;

/**
 * The annotations of a Node after a change. `undefined` takes a mark away.
 * @param needed `false`: the wish for a reboot is taken away as well
 * @param wish what it needs a reboot for from now on
 */
export function withMarks(
  before: Readonly<Record<string, string>> | undefined,
  change: MarkChange,
  { at, needed = true, wish }: { readonly at: Date; readonly needed?: boolean; readonly wish?: string },
): Readonly<Record<string, string>> {
  const after: Record<string, string> = { ...before };
  for (const [key, name] of Object.entries(names) as [keyof Marks, string][]) {
    if (!(key in change)) continue;
    const word = change[key];
    if (word === undefined) delete after[name];
    else after[name] = `${timestamp(at)} ${word}`;
  }
  if (!needed) delete after[annotations.rebootNeeded];
  if (wish !== undefined) after[annotations.rebootNeeded] = wish;
  return after;
}

/** The same as {@link withMarks} means to an observation. */
export function changedMarks(before: Marks, change: MarkChange, at: Date): Marks {
  const after: { -readonly [K in keyof Marks]: Marks[K] } = { ...before };
  for (const key of Object.keys(names) as (keyof Marks)[]) {
    if (!(key in change)) continue;
    const word = change[key];
    if (word === undefined) delete after[key];
    else after[key] = { at, word };
  }
  return after;
}

/** Every mark of a way, taken away at its end. */
export const noMarks = {
  granted: undefined,
  cordoned: undefined,
  now: undefined,
  inProgress: undefined,
  returned: undefined,
} as const satisfies MarkChange;

/** What the Node says that it needs a reboot for, as anyone may write it: short, and without control characters. */
export function needOf({ metadata }: Pick<Node, 'metadata'>): string | undefined {
  const text = metadata.annotations?.[annotations.rebootNeeded];
  if (text === undefined) return undefined;
  return (
    text
      .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ')
      .slice(0, 200)
      .trim() || 'no cause is given'
  );
}

interface Waiting {
  readonly name: string;
  readonly group?: string;
  readonly marks: Marks;
}

/** Nodes that wait, in turn: those that were put off come last, then by group, and within a group by name. */
export function inTurn<T>(nodes: readonly T[], of: (node: T) => Waiting) {
  const turn = (node: T) => of(node).marks.putOff?.at.getTime() ?? 0;
  const place = (node: T) => `${of(node).group ?? ''}/${of(node).name}`;
  return nodes.toSorted((a, b) => turn(a) - turn(b) || (place(a) < place(b) ? -1 : 1));
}
