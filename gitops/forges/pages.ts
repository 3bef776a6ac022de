import type { ChangeRequest, OpenRequests } from './forge.ts';

/** Requests per repository: more than a person looks through. */
const mostRequests = 100;
/** Where the forge can't filter, pages hold requests for other branches too. */
const mostPages = 20;

export interface FoundPage<Cursor> {
  readonly requests: readonly ChangeRequest[];
  /** Where the next page begins; `undefined` after the last. */
  readonly next: Cursor | undefined;
}

/** Follows pages until there are enough requests, or no more pages. */
export async function gather<Cursor>(
  first: Cursor,
  page: (cursor: Cursor) => Promise<FoundPage<Cursor>>,
): Promise<OpenRequests> {
  const requests: ChangeRequest[] = [];
  let cursor: Cursor | undefined = first;
  for (let pages = 0; cursor !== undefined && pages < mostPages && requests.length < mostRequests; pages++) {
    const found: FoundPage<Cursor> = await page(cursor);
    requests.push(...found.requests);
    cursor = found.next;
  }
  return {
    requests: requests.slice(0, mostRequests),
    more: cursor !== undefined || requests.length > mostRequests,
  };
}
