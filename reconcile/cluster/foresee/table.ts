import type { CheckedCluster, CheckedStep } from '../../../manifests/api/check-report.ts';
import { withCure } from '../../reasons/cure.ts';

/** Plans as people read them: in a terminal, and on a pull request. */

/** As a plan has them, and as a report keeps them. */
type Stepped = CheckedStep;
type Ended = NonNullable<CheckedCluster['planned']>['end'];

type Row = readonly [number: string, action: string, target: string, reason: string, message: string];

const head: Row = ['#', 'ACTION', 'TARGET', 'REASON', 'MESSAGE'];
/** Names of many Secrets are longer than a terminal is wide; the message says the same. */
const widestTarget = 36;

/** Aligned columns, one line a step, and how it ends. */
export function planText({ steps, end }: { readonly steps: readonly Stepped[]; readonly end: Ended }): string {
  const rows = [...(steps.length > 0 ? [head] : []), ...steps.map(rowOf)];
  const widths = head.map((_, column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        if (column === 0) return cell.padStart(width);
        return column === row.length - 1 ? cell : cell.padEnd(width);
      })
      .join('  '),
  );
  return [...lines, endText(end)].join('\n');
}

/** A table in GitHub's and other Markdown. */
export function planMarkdown({ steps, end }: { readonly steps: readonly Stepped[]; readonly end: Ended }): string {
  if (steps.length === 0) return markdownText(endText(end));
  const rows = steps.map(rowOf).map((row) => `| ${row.map(markdownText).join(' | ')} |`);
  const titles = `| ${head.map((word) => word.toLowerCase()).join(' | ')} |`;
  return [titles, '|---:|---|---|---|---|', ...rows, '', markdownText(endText(end))].join('\n');
}

function rowOf({ action, target = '', reason, message }: Stepped, index: number): Row {
  return [String(index + 1), action, clipped(target), reason, message];
}

function clipped(text: string): string {
  return text.length <= widestTarget ? text : `${text.slice(0, widestTarget - 1)}…`;
}

/**
 * Names and messages come from specs, and from strangers: none of them ends a table, or is a link, a picture or a
 * mention.
 */
export function markdownText(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/\p{Bidi_Control}/gu, '\ufffd')
    .replace(/[\\|`<>*_[\]!~#&$%^]/g, (found) => `\\${found}`)
    .replaceAll('@', '@\u200b')
    .replaceAll('://', ':\u200b//')
    .replaceAll(/(www)\./gi, '$1\u200b.');
}

function endText(end: Ended): string {
  switch (end.kind) {
    case 'done':
      return `→ ${end.reason}: ${end.message}`;
    case 'refused':
      return `→ needs a person: ${end.reason}: ${withCure(end.message, end.cure ?? 'see there')}`;
    case 'waits':
      return `→ waits, for how long cannot be foreseen: ${end.reason}: ${end.message}`;
    case 'circles':
      return `→ goes round in circles from here: ${end.reason}: ${end.message}; please report it`;
    case 'goes-on':
      return `→ goes on: ${end.reason}: ${end.message}`;
  }
}
