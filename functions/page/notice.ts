import { layout } from './layout.ts';
import { type Html, markup } from './markup.ts';
import type { Tone } from './state.ts';

export interface Notice {
  readonly title: string;
  readonly message: string;
  /** What to do about it. */
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
