import { longestDescription, oneLine } from '../../manifests/description.ts';

/**
 * A message for a commit status: one line, no control or direction-changing characters, cut at a word, and between what
 * a reader sees as characters: no half emoji or lone accent remains.
 */
export function describe(message: string): string {
  const line = oneLine(message);
  if (line.length <= longestDescription) return line;

  let cut = '';
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(
    line.slice(0, 4 * longestDescription),
  )) {
    if (cut.length + segment.length > longestDescription - 1) break;
    cut += segment;
  }
  // A word's end, unless that would throw away most of it (a long URL, a language without spaces).
  const rest = line.slice(cut.length);
  const space = rest.startsWith(' ') ? cut.length : cut.lastIndexOf(' ');
  const words = (space > longestDescription / 2 ? cut.slice(0, space) : cut).replace(barelyBegun, '');
  return `${words.replace(/[\s,;:.–-]+$/, '')}…`;
}

/** Of a sentence of which no more fits, as "To go on:", a reader learns nothing. */
const barelyBegun = /\.\s+[^.]{0,12}$/;
