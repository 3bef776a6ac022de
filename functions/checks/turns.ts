import type { ChangeRequest } from '../../gitops/forges/forge.ts';
import { drawnFor } from '../../reconcile/stepping/in-turns.ts';

/** Of one author of forks in one pass: a person with many requests must not have the time of the others. */
const mostOfAuthor = 3;

/** Newer requests never hide older ones. */
export function oldestFirst(requests: readonly ChangeRequest[]): readonly ChangeRequest[] {
  return requests.toSorted((a, b) => Number(a.number) - Number(b.number));
}

/**
 * The oldest first. Where there are more than can be remembered, by lot, with a new one each minute: those that are
 * forgotten would else come first again and again.
 */
export function inTurns(
  requests: readonly ChangeRequest[],
  { now, most }: { readonly now: Date; readonly most: number },
): readonly ChangeRequest[] {
  if (requests.length <= most) return oldestFirst(requests);
  const minute = Math.floor(now.getTime() / 60_000);
  const lots = new Map(requests.map((request) => [request, drawnFor(`${minute} ${request.number}`)]));
  return requests.toSorted((a, b) => (lots.get(a) ?? 0) - (lots.get(b) ?? 0));
}

/** The first few of each author, in their order. */
export function fewOfEach(requests: readonly ChangeRequest[]): readonly ChangeRequest[] {
  const counts = new Map<string, number>();
  return requests.filter(({ author }) => {
    const count = (counts.get(author) ?? 0) + 1;
    counts.set(author, count);
    return count <= mostOfAuthor;
  });
}
