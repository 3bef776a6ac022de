import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** Markup of ours, with whatever it shows already escaped. */
export type Html = HtmlEscapedString;

export type Child = string | number | Html | undefined | false | readonly Child[];

/** The only way to make markup here: every string is escaped, made readable and cut, in text and in attributes. */
export function markup(strings: TemplateStringsArray, ...children: readonly Child[]): Html {
  // Without promises among the children, the helper answers at once.
  return html(strings, ...children.map(shown)) as Html;
}

function shown(child: Child): Child {
  if (typeof child === 'string') return readable(child);
  return Array.isArray(child) ? child.map(shown) : child;
}

/** The longest text on a page, in characters; the resource itself has all of it. */
const longest = 4000;

/**
 * Characters that change how the text around them reads, or show nothing at all: control characters, marks and
 * overrides of direction, zero-width and tag characters. Those that scripts are written with (U+200C, U+200D) stay.
 */
const deceptive =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** Text of others as a page may show it: deceptive characters become U+FFFD, and long text is cut. */
export function readable(text: string): string {
  const shown = text.length > longest ? text.slice(0, longest) : text;
  const clean = shown.toWellFormed().replace(deceptive, '\ufffd');
  return shown === text ? clean : `${clean}… (and ${text.length - longest} more characters)`;
}
