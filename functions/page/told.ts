import { toGoOn } from '../../reconcile/reasons/cure.ts';
import { waysIn } from '../../reconcile/reasons/offers.ts';
import { mentionedIn, runbookOf, withoutMentions } from '../../reconcile/reasons/runbook.ts';
import { type Html, markup } from './markup.ts';

/**
 * A kubectl command in a cure: words, and parts in quotes. It has nothing else that a shell acts upon: a cure may quote
 * others. What an approval runs to name its approver is ours.
 */
const commands =
  /\bkubectl(?= (?:-n|ratchet|annotate|create|delete|describe|get|label|logs|patch|rollout|taint|uncordon) )(?:(?<![.,:]) (?:[^\s'"`;|&<>()$\\]|'[^'\n]*'|"[^"`$\n]*"|"\$\(kubectl auth whoami [^"`$()\n]*\)")+)+/g;

/** What a sentence goes on with behind a command. */
const behind = /[.,:]+$/;

/** A block of its own: a click selects all of it, and nothing else. */
export function commandBlock(command: string): Html {
  // A word goes to the next line whole: a break behind a hyphen of an option reads as another one.
  const words = command.split(/\s+/).map((word, index) => markup`${index > 0 && ' '}<span>${word}</span>`);
  return markup`<pre class="command"><code>${words}</code></pre>`;
}

/** A message, a link to its cure (a phone can't follow an address in a sentence), and how to go on. */
export function told(message: string, reason = ''): Html {
  const [what = '', cure, ...others] = withoutMentions(message).split(toGoOn);
  const runbook = mentionedIn(message) ?? runbookOf(reason);
  const link = runbook !== undefined && markup` <a class="nowrap" href="${runbook}" rel="noreferrer">What to do</a>`;
  // Two ways on: one of them is quoted, so none is offered.
  if (cure === undefined || others.length > 0) return markup`<p><bdi>${withoutMentions(message)}</bdi>${link}</p>`;
  return markup`<p><bdi>${what}</bdi>.${link}</p>${wayOn(cure)}`;
}

/** The cure, with its commands beneath it. */
export function wayOn(cure: string): Html {
  return markup`${waysIn(cure).map((way, at) => oneWay(at === 0 ? 'To go on' : 'Or', way))}`;
}

function oneWay(lead: string, way: string): Html {
  const found = way.length > longest ? [] : commandsIn(way);
  return markup`<p>${lead}: <bdi>${withoutCommands(way, found)}</bdi></p>${found.map(commandBlock)}`;
}

/** A part of a command may do something else than the whole: none is offered. */
function commandsIn(cure: string): readonly string[] {
  return [...cure.matchAll(commands)].flatMap(({ 0: one, index }) =>
    goesOn.test(cure.slice(index + one.length, index + one.length + 2)) ? [] : [one.replace(behind, '')],
  );
}

/** In a command of which the text above has only a part. */
const goesOn = /^ ?['"`|&<>$\\]/;

/** A message has at most this many characters where the API server keeps it. */
const longest = 32_768;

function withoutCommands(cure: string, found: readonly string[]): string {
  if (found.length === 1 && cure.endsWith(`: ${found[0]}`)) return cure.slice(0, -(found[0]?.length ?? 0) - 1);
  return cure;
}
