import { type Html, markup } from './markup.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** In whole minutes at most: a page that says the same for a minute can be answered with "not modified". */
export function duration(ms: number): string {
  if (ms < minute) return 'less than a minute';
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < day) return `${Math.floor(ms / hour)} h`;
  const days = Math.floor(ms / day);
  return days === 1 ? '1 day' : `${days} days`;
}

export function ago(time: string | undefined, now: Date): Html {
  const at = Date.parse(time ?? '');
  if (Number.isNaN(at)) return markup`<span class="quiet">never</span>`;
  const past = now.getTime() - at;
  return timeTag(at, past < minute ? 'just now' : `${duration(past)} ago`);
}

export function age(time: string | undefined, now: Date): Html {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? markup`–` : timeTag(at, duration(Math.max(0, now.getTime() - at)));
}

export function until(time: string | undefined, now: Date): Html {
  const at = Date.parse(time ?? '');
  if (Number.isNaN(at)) return markup`–`;
  const left = at - now.getTime();
  return timeTag(at, left <= 0 ? `${duration(-left)} ago` : `in ${duration(left)}`);
}

/** `2026-11-21 17:03 UTC` */
export function clock(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function timeTag(at: number, text: string): Html {
  const date = new Date(at);
  return markup`<time datetime="${date.toISOString()}" title="${clock(date)}">${text}</time>`;
}
