import { type Html, markup } from './markup.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** In whole minutes at most: a page that says the same for a minute can be answered with "not modified". */
export function duration(ms: number): string {
  if (ms < minute) return '< 1 min';
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < day) return `${Math.floor(ms / hour)} h`;
  const days = Math.floor(ms / day);
  return days === 1 ? '1 day' : `${days} days`;
}

export function ago(time: string | undefined, now: Date): Html {
  const at = Date.parse(time ?? '');
  if (Number.isNaN(at)) return markup`<span class="quiet">never</span>`;
  const past = now.getTime() - at;
  return timeTag(at, past < minute ? 'just now' : `${duration(past)} ago`, 'seen');
}

export function age(time: string | undefined, now: Date): Html {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? markup`–` : timeTag(at, duration(Math.max(0, now.getTime() - at)), 'hidden');
}

export function until(time: string | undefined, now: Date): Html {
  const at = Date.parse(time ?? '');
  if (Number.isNaN(at)) return markup`–`;
  const left = at - now.getTime();
  return timeTag(at, left <= 0 ? `${duration(-left)} ago` : `in ${duration(left)}`, 'seen');
}

/** `2026-11-21 17:03 UTC` */
export function clock(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** The absolute time stands beside it, for logs and for a page that was left open: a phone shows no title. */
function timeTag(at: number, text: string, absolute: 'seen' | 'hidden'): Html {
  const date = new Date(at);
  const beside = absolute === 'seen' && markup` <span class="at">${clock(date)}</span>`;
  return markup`<time datetime="${date.toISOString()}" title="${clock(date)}">${text}${beside}</time>`;
}
