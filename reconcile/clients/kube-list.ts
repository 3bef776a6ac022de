import { isReason, type KubeObject, type LeftOut, type ListOptions } from '../interfaces/kube.ts';
import type { Target } from './kube-address.ts';
import { type Page, selectors } from './kube-answers.ts';
import { failure } from './kube-errors.ts';
import { maxAnswerBytes } from './kube-transport.ts';
import type { ListBudget } from './list-budget.ts';

type Query = Readonly<Record<string, string>>;

export interface Listing<T> {
  readonly target: Target;
  readonly options: ListOptions;
  readonly budget: ListBudget;
  /** @throws {KubeError} `TooLarge`: more bytes than that */
  readonly ask: (query: Query, mostBytes: number) => Promise<Page<T>>;
}

const pageSize = 500;
const maxPages = 2000;
/** A page of large objects is asked for again with fewer of them: parsed, it takes several times its bytes. */
const pageBytes = 8 * 1024 * 1024;

/** The pages that were read are of no use: of a state that is gone, or with a namespace that is now left out. */
class Restart extends Error {
  override readonly name = 'Restart';
}

/**
 * All pages, in pieces that memory has room for. A namespace that is left out on the way is not asked for any more.
 * @throws {KubeError}
 */
export async function listPages<T extends KubeObject>(
  listing: Listing<T>,
): Promise<{ items: readonly T[]; resourceVersion: string }> {
  let mayExpire = true;
  for (;;) {
    try {
      return await listOnce(listing);
    } catch (error) {
      // Each restart leaves out one namespace more: there is an end.
      if (error instanceof Restart) continue;
      if (!mayExpire || !isReason(error, 'Expired')) throw error;
      mayExpire = false;
    }
  }
}

async function listOnce<T extends KubeObject>({ target, options, budget, ask }: Listing<T>) {
  const words = JSON.stringify([options.namespace, options.labelSelector, options.fieldSelector]);
  const account = budget.begin(target.resource, words);
  const mayLack = target.namespace === undefined && !target.resource.clusterScoped && !options.whole;
  const without = mayLack ? [...budget.leftOut.keys()] : [];
  const selected = selectors({ ...options, fieldSelector: fieldsWithout(options.fieldSelector, without) });
  const items: T[] = [];
  let next = '';
  let size = options.limit ?? pageSize;
  for (let count = 0; count < maxPages; count += 1) {
    const query = { limit: String(size), ...selected, ...(next === '' ? {} : { continue: next }) };
    const page = await ask(query, size > 1 ? pageBytes : maxAnswerBytes).catch((error: unknown) => {
      if (size === 1 || !isReason(error, 'TooLarge')) throw error;
      return undefined;
    });
    if (!page) {
      size = Math.max(1, size >> 3);
      continue;
    }
    const kept = keptOf(page.items, options);
    items.push(...kept);
    account.charge(kept, page.bytes);
    if (mayLack && budget.leftOut.size > without.length) throw new Restart();
    throwIfLeftOut(target, budget.leftOut);
    const isEnough = options.limit !== undefined && items.length >= options.limit;
    if (page.next === '' || isEnough) return { items, resourceVersion: page.resourceVersion };
    if (page.next === next) throw failure(target, 'BadAnswer', 'the same page is announced twice');
    next = page.next;
    const left = (options.limit ?? Number.POSITIVE_INFINITY) - items.length;
    size = Math.min(left, pageSize, page.bytes < pageBytes / 4 ? size * 2 : size);
  }
  throw failure(target, 'BadAnswer', `no end after ${maxPages} pages`);
}

/** Of these what a list keeps in memory. */
export function keptOf<T extends KubeObject>(
  items: readonly T[],
  { isBare }: Pick<ListOptions, 'isBare'>,
): readonly T[] {
  return isBare ? items.map((one) => (isBare(one) ? bare(one) : one)) : items;
}

function bare<T extends KubeObject>(item: T): T {
  const { status: _, ...rest } = item as T & { readonly status?: unknown };
  const { managedFields: __, ...metadata } = item.metadata as T['metadata'] & { readonly managedFields?: unknown };
  return { ...rest, metadata } as unknown as T;
}

/** @throws {KubeError} where the list is of that namespace alone: there is nothing to go on with */
function throwIfLeftOut(target: Target, leftOut: ReadonlyMap<string, LeftOut>): void {
  const bytes = leftOut.get(target.namespace ?? '')?.bytes;
  if (bytes === undefined) return;
  throw failure(target, 'TooLarge', `what it holds takes about ${bytes} bytes of memory`);
}

/** All namespaced kinds can be selected by it, custom resources too; nodes, and others of no namespace, can't. */
function fieldsWithout(selector: string | undefined, namespaces: readonly string[]): string | undefined {
  const all = [
    ...(selector === undefined ? [] : [selector]),
    ...namespaces.map((name) => `metadata.namespace!=${name}`),
  ];
  return all.length === 0 ? undefined : all.join(',');
}
