/** A commit status, of any sender. */
export interface ToldStatus {
  /** What its sender is called there, where there are several names. */
  readonly contexts: readonly string[];
  readonly isFailed: boolean;
}

interface ToldPage {
  /** Of each context the newest. */
  readonly told: readonly ToldStatus[];
  readonly isLast: boolean;
}

/** Of a hundred statuses each, or fifty. */
const mostPages = 10;

/** The first of these contexts that failed; GitHub does not tell case apart. @param page from 1 */
export async function failedAmong(
  contexts: readonly string[],
  page: (at: number) => Promise<ToldPage>,
): Promise<string | undefined> {
  const failed = new Set<string>();
  for (let at = 1; at <= mostPages; at += 1) {
    const { told, isLast } = await page(at);
    for (const one of told) if (one.isFailed) for (const context of one.contexts) failed.add(context.toLowerCase());
    if (isLast) break;
  }
  return contexts.find((context) => failed.has(context.toLowerCase()));
}
