import { ForgeError } from './error.ts';

/** A commit status, of any sender. */
export interface ToldStatus {
  /** What its sender is called there, where there are several names. */
  readonly contexts: readonly string[];
  readonly isFailed: boolean;
  /** Of several of a context, the one with the highest counts. Absent: there is one of each. */
  readonly at?: number;
}

interface ToldPage {
  readonly told: readonly ToldStatus[];
  readonly isLast: boolean;
}

/** Of a hundred statuses each, or fifty. */
const mostPages = 10;

/**
 * The first of these contexts that failed; GitHub does not tell case apart.
 * @param page from 1
 * @throws {ForgeError} BadAnswer: there are more than are read
 */
export async function failedAmong(
  address: string,
  contexts: readonly string[],
  page: (at: number) => Promise<ToldPage>,
): Promise<string | undefined> {
  const newest = new Map<string, Required<Pick<ToldStatus, 'at' | 'isFailed'>>>();
  for (let at = 1; at <= mostPages; at += 1) {
    const { told, isLast } = await page(at);
    for (const { contexts: names, isFailed, at: order = 0 } of told)
      for (const name of names.map((one) => one.toLowerCase())) {
        const before = newest.get(name);
        if (!before || order > before.at || (order === before.at && isFailed))
          newest.set(name, { at: order, isFailed });
      }
    if (isLast) return contexts.find((context) => newest.get(context.toLowerCase())?.isFailed);
  }
  throw new ForgeError('BadAnswer', `${address} has more statuses on the commit than we read`);
}
