import { raw } from 'hono/html';
import { homeHref } from './links.ts';
import { type Html, markup } from './markup.ts';
import { hrefOf, type Query, refreshEvery } from './query.ts';
import type { Tone } from './state.ts';
import { style } from './style.ts';
import { clock } from './time.ts';

export interface PageFrame {
  readonly title: string;
  /** From this page to `/`: '' there. */
  readonly root: string;
  /** How what is shown is doing: the colour of the icon in the tab. */
  readonly tone?: Tone;
  /** Where this page is, below the first. */
  readonly path?: readonly { readonly text: string; readonly href?: string }[];
  /** Absent: it is not loaded again. */
  readonly query?: Query;
  readonly now: Date;
  readonly body: Html;
}

const wheel =
  'M12 2l2.1 1.5 2.5-.5 1 2.4 2.4 1-.5 2.5L21 11l-1.5 2.1.5 2.5-2.4 1-1 2.4-2.5-.5L12 20l-2.1-1.5-2.5.5-1-2.4-2.4-1 .5-2.5L3 11l1.5-2.1L4 6.4l2.4-1 1-2.4 2.5.5z';

const colours = { good: '2a9d62', busy: 'd18a12', bad: 'd13b46', calm: '8795a0' } as const satisfies Record<
  Tone,
  string
>;

export function layout({ title, root, tone = 'calm', path = [], query, now, body }: PageFrame): Html {
  const icon = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='2 1 20 20'%3E%3Cpath fill='%23${colours[tone]}' d='${wheel}'/%3E%3C/svg%3E`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${query?.refreshes && markup`<meta http-equiv="refresh" content="${refreshEvery}">`}
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${raw(style) as Html}</style>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header>
<a class="brand" href="${homeHref(root)}"><svg viewBox="2 1 20 20" aria-hidden="true"><path fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round" d="${wheel}"/><circle cx="12" cy="11" r="2.6" fill="currentColor"/></svg>etcd-ratchet</a>
${path.length > 0 && markup`<nav aria-label="Where this is"><ol>${path.map((one, index) => crumb(one, index === path.length - 1))}</ol></nav>`}
</header>
<main id="main">
${body}
</main>
<footer>As of ${clock(now)}.${query && refreshLinks(query)} This page shows and changes nothing.</footer>
</body>
</html>
`;
}

/** By itself only where it is asked for: a load takes a selection away. */
function refreshLinks(query: Query): Html {
  const { refreshes } = query;
  const other = markup`<a href="${hrefOf({ ...query, refreshes: !refreshes })}">${refreshes ? 'Stop' : `Refresh every ${refreshEvery}\u00a0s`}</a>`;
  return refreshes
    ? markup` It refreshes every ${refreshEvery} s: ${other}.`
    : markup` <a href="${hrefOf(query)}">Refresh</a> · ${other}.`;
}

function crumb({ text, href }: { readonly text: string; readonly href?: string }, isHere: boolean): Html {
  if (href !== undefined) return markup`<li><a href="${href}"><bdi>${text}</bdi></a></li>`;
  return markup`<li${isHere && markup` aria-current="page"`}><bdi>${text}</bdi></li>`;
}

export interface Notice {
  readonly title: string;
  readonly message: string;
  readonly cure?: string;
  readonly tone?: Tone;
  readonly root: string;
  readonly now: Date;
}

/** A page that says why there is none. */
export function noticePage({ title, message, cure, tone = 'calm', root, now }: Notice): Html {
  const body = markup`<section class="card"><h1>${title}</h1><p><bdi>${message}</bdi></p>${cure !== undefined && markup`<p class="quiet">${cure}</p>`}</section>`;
  return layout({ title: `${title} · etcd-ratchet`, root, tone, now, body });
}
