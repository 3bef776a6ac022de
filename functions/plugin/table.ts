import { styleText } from 'node:util';
import { printable } from '../../manifests/printable.ts';
import type { Tone } from '../page/state.ts';
import { wrapped } from './wrap.ts';

/** A cell of a table: what a person reads, in the colour of how it is doing. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

const colourOf = { good: 'green', busy: 'yellow', bad: 'red', calm: 'cyan' } as const satisfies Record<Tone, string>;
const gap = '   ';

/** Where the others leave less of a line for the last cell, it stands below them. */
const leastOfLast = 36;
const belowIndent = 6;
const longestHead = 12;

/**
 * Columns as kubectl sets them: as wide as their longest cell, and the last one goes on below where the line is full.
 * Text of others is made harmless.
 */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[], colours: boolean): string {
  const lines = [heads, ...rows].map((row) => row.map(harmless));
  const last = heads.length - 1;
  const widths = heads
    .slice(0, last)
    .map((_, column) => Math.max(...lines.map((row) => textOf(row[column] ?? '').length)));
  const before = widths.reduce((sum, width) => sum + width + gap.length, 0);
  return lines.map((row) => rowText(row, { widths, before, colours })).join('');
}

interface Columns {
  /** Of all but the last. */
  readonly widths: readonly number[];
  /** Characters before the last one. */
  readonly before: number;
  readonly colours: boolean;
}

function rowText(row: readonly Cell[], { widths, before, colours }: Columns): string {
  const start = widths.map((width, column) => {
    const cell = row[column] ?? '';
    return `${coloured(cell, colours)}${' '.repeat(width - textOf(cell).length)}${gap}`;
  });
  const end = row[widths.length] ?? '';
  const room = lineWidth - before;
  const isBelow = room < leastOfLast && textOf(end).length > Math.max(room, longestHead);
  const indent = isBelow ? belowIndent : before;
  const parts = wrapped(textOf(end), lineWidth - indent).map((text) =>
    text === '' ? '' : coloured(typeof end === 'string' ? text : { ...end, text }, colours),
  );
  const [first = '', ...more] = isBelow ? ['', ...parts] : parts;
  const lines = [`${start.join('')}${first}`.trimEnd(), ...more.map((text) => `${' '.repeat(indent)}${text}`)];
  return lines.map((line) => `${line}\n`).join('');
}

/** Columns of a line. */
export const lineWidth = 120;

export function coloured(cell: Cell, colours: boolean): string {
  if (typeof cell === 'string' || !colours) return textOf(cell);
  return styleText(colourOf[cell.tone], cell.text, { validateStream: false });
}

function harmless(cell: Cell): Cell {
  return typeof cell === 'string' ? printable(cell) : { ...cell, text: printable(cell.text) };
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}
