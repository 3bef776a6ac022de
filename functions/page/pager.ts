import { type Html, markup } from './markup.ts';

const perPage = 200;

export interface Paged<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly pages: number;
  readonly total: number;
}

/** A page beyond the last is the last. */
export function pageOf<T>(all: readonly T[], page: number): Paged<T> {
  const pages = Math.max(1, Math.ceil(all.length / perPage));
  const at = Math.min(Math.max(1, page), pages);
  return { items: all.slice((at - 1) * perPage, at * perPage), page: at, pages, total: all.length };
}

/** What `?page=` says; 1 for whatever is no number. */
export function pageNumber(text: string | undefined): number {
  return text !== undefined && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1;
}

export function pager({ page, pages, total }: Paged<unknown>): Html {
  if (pages === 1) return markup``;
  return markup`<nav class="more" aria-label="Pages">${page > 1 && markup`<a href="?page=${page - 1}" rel="prev">Before</a> · `}Page ${page} of ${pages}, ${total} in all${page < pages && markup` · <a href="?page=${page + 1}" rel="next">Next</a>`}</nav>`;
}
