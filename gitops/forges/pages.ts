import type { ChangeRequest, OpenRequests } from './forge.ts';

/** Of 50 requests each. */
const mostPages = 20;
/** Milliseconds after which no further page is begun: strangers choose how many there are, and how long each is. */
const readingMs = 4_000;

export interface FoundPage {
  readonly requests: readonly ChangeRequest[];
  /** Where the next page begins; `undefined` after the last. */
  readonly next: number | undefined;
  /** Of this page. */
  readonly validator?: string | undefined;
}

/** Follows pages until there are no more, or it is enough for one look: the next one goes on there. */
export async function gather(
  first: number,
  page: (cursor: number) => Promise<FoundPage>,
  most = mostPages,
): Promise<OpenRequests> {
  const requests: ChangeRequest[] = [];
  const until = performance.now() + readingMs;
  let next: number | undefined = first;
  let validator: string | undefined;
  for (let pages = 0; next !== undefined && pages < most && (pages === 0 || performance.now() < until); pages++) {
    const found: FoundPage = await page(next);
    requests.push(...found.requests);
    next = found.next;
    validator = pages === 0 && next === undefined ? found.validator : undefined;
  }
  return { requests, ...(next !== undefined && { next }), ...(validator !== undefined && { validator }) };
}
