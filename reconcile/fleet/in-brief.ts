import { longestDescription, oneLine } from '../../manifests/description.ts';
import { toGoOn } from '../reasons/cure.ts';
import { withoutMentions } from '../reasons/runbook.ts';

interface Said {
  /** Where in a file: it stays first, and is cure enough for a message that tells none. */
  readonly place?: string;
  /** The object that the message is about, as `payments/orders: `. */
  readonly about?: string;
  readonly message: string;
  /** What else is news, after the message. */
  readonly besides?: string | undefined;
}

interface Room {
  /** A command that shows the whole: for a cure that does not fit, and a failure that is cut. It names its object. */
  readonly pointer?: string | undefined;
  readonly longest?: number;
}

/** Where not even the names of the object leave room. */
const lastPointer = 'see the conditions';

/**
 * One line of at most 140 characters. Its cure stands first and is whole, or a command that shows the cure does: a
 * sentence may be cut, an instruction never. Without characters that are removed on the way to a forge: what is sent
 * and wanted is compared.
 */
export function inBrief(
  { place = '', about = '', message, besides }: Said,
  { pointer, longest = longestDescription }: Room = {},
): string {
  const [what = '', ...cures] = message.split(toGoOn);
  const why = besides === undefined ? what : `${what}; ${besides}`;
  const line = oneLine(`${place}${about}${why}`);
  if (cures.length === 0 && line.length <= longest) return line;
  if (cures.length === 0 && (pointer === undefined || place !== '')) return cut(withoutMentions(line), longest);
  if (cures.length > 0) {
    const cured = oneLine(`${place}${about}do: ${withoutMentions(cures.join(toGoOn))}`);
    if (cured.length <= longest) return withReason(cured, why, longest);
  }
  const pointed = [pointer ?? lastPointer, lastPointer].map((one) => oneLine(`${place}do: ${one}`));
  const first = pointed.find((one) => one.length <= longest);
  return first === undefined ? cut(line, longest) : withReason(first, `${about}${why}`, longest);
}

/** Of a reason of which less fits, a reader learns nothing. */
const leastReason = 16;

function withReason(first: string, why: string, longest: number): string {
  const room = longest - first.length - '; why: '.length;
  const line = oneLine(withoutMentions(why));
  return line === '' || room < Math.min(leastReason, line.length) ? first : `${first}; why: ${cut(line, room)}`;
}

/** At a word's end, unless that throws away most of it; between code points. */
function cut(line: string, longest: number): string {
  if (line.length <= longest) return line;
  let start = '';
  for (const point of line) {
    if (start.length + point.length >= longest) break;
    start += point;
  }
  const end = line[start.length] === ' ' ? start.length : start.lastIndexOf(' ');
  const words = end > longest / 2 ? start.slice(0, end) : start;
  return `${words.replace(/[\s,;:.–-]+$/, '')}…`;
}
