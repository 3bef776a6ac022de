import { withoutMentions } from '../../reconcile/reasons/runbook.ts';

/** The first sentence of a message, of at most so many characters: for a table. */
export function firstSentence(message: string, longest: number): string {
  const [sentence = ''] = withoutMentions(message).split(/[.;] /, 1);
  return sentence.length > longest ? `${sentence.slice(0, longest - 1)}…` : sentence;
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `20.1 MiB` */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
