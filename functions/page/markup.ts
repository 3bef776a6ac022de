import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { readable } from './readable.ts';

/** Markup of ours, with whatever it shows already escaped. */
export type Html = HtmlEscapedString;

export type Child = string | number | Html | undefined | false | readonly Child[];

/**
 * The only way to markup here: every string that is put in is escaped, made readable and cut, in text as in attributes
 * (which are always written with double quotes).
 */
export function markup(strings: TemplateStringsArray, ...children: readonly Child[]): Html {
  // Without promises among the children, the helper answers at once.
  return html(strings, ...children.map(shown)) as Html;
}

function shown(child: Child): Child {
  if (typeof child === 'string') return readable(child);
  return Array.isArray(child) ? child.map(shown) : child;
}
