import { type Html, markup } from './markup.ts';
import { hrefOf, type Query } from './query.ts';

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

export function pager({ page, pages, total }: Paged<unknown>, query: Query): Html {
  if (pages === 1) return markup``;
  return markup`<nav class="more" aria-label="Pages">${page > 1 && markup`<a href="${hrefOf({ ...query, page: page - 1 })}" rel="prev">Before</a> · `}Page ${page} of ${pages}, ${total} in all${page < pages && markup` · <a href="${hrefOf({ ...query, page: page + 1 })}" rel="next">Next</a>`}</nav>`;
}
