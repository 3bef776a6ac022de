import { styleText } from 'node:util';
import type { Tone } from '../page/state.ts';
import { printable } from '../printable.ts';

/** A cell of a table: what a person reads, in the colour of how it is doing. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

const colourOf = { good: 'green', busy: 'yellow', bad: 'red', calm: 'cyan' } as const satisfies Record<Tone, string>;
const gap = '   ';

/** Columns as kubectl sets them: as wide as their longest cell. Text of others is made harmless. */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[], colours: boolean): string {
  const lines = [heads, ...rows].map((row) => row.map(harmless));
  const widths = heads.map((_, column) => Math.max(...lines.map((row) => textOf(row[column] ?? '').length)));
  const last = heads.length - 1;
  return lines
    .map((row) =>
      row
        .map((cell, column) => {
          const padding = column === last ? '' : ' '.repeat((widths[column] ?? 0) - textOf(cell).length);
          return `${coloured(cell, colours)}${padding}`;
        })
        .join(gap)
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

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
