import type { KubeObject, LeftOut, Resource } from '../interfaces/kube.ts';

/** What lists over all namespaces hold in memory together, shared out so that no namespace takes the room of others. */
export interface ListBudget {
  /** One list, from its first page on: what an earlier list by the same words held is given back. */
  begin(resource: Resource, words: string): ListAccount;
  /** By namespace. Nothing of them is in any list that begins from now on. */
  readonly leftOut: ReadonlyMap<string, LeftOut>;
}

interface ListAccount {
  /** Counts a page, and leaves the largest namespaces out where all lists together hold too much. */
  charge(items: readonly KubeObject[], bytes: number): void;
}

/** JSON such as `{},` takes at most this many times its bytes in memory. */
const mostPerByte = 24;

interface Held {
  readonly resource: Resource;
  /** Not weighed while even their upper bound is small: most passes weigh nothing. */
  readonly pages: { readonly items: readonly KubeObject[]; readonly most: number }[];
  readonly weights: Map<string, number>;
}

/** @param mostBytes of the heap, for all lists together */
export function createListBudget(mostBytes: number): ListBudget {
  const held = new Map<string, Held>();
  const leftOut = new Map<string, LeftOut>();
  const shapes = new Set<string>();

  function upperBound(): number {
    return sum(
      [...held.values()].flatMap(({ pages, weights }) => [...pages.map(({ most }) => most), ...weights.values()]),
    );
  }

  function leaveOut(): void {
    if (upperBound() <= mostBytes) return;
    for (const one of held.values()) while (one.pages.length > 0 && upperBound() > mostBytes) weighPage(one, shapes);
    while (upperBound() > mostBytes) {
      const largest = largestNamespace([...held.values()]);
      if (!largest) return;
      leftOut.set(largest.namespace, { ...largest.what, mostBytes });
      for (const { weights } of held.values()) weights.delete(largest.namespace);
    }
  }

  return {
    leftOut,
    begin(resource, words) {
      const account: Held = { resource, pages: [], weights: new Map() };
      held.set(`${resource.plural} ${words}`, account);
      return {
        charge(items, bytes) {
          account.pages.push({ items, most: bytes * mostPerByte });
          leaveOut();
        },
      };
    },
  };
}

/** Objects of no namespace are the platform's: no tenant makes them. */
function weighPage({ pages, weights }: Held, shapes: Set<string>): void {
  for (const item of pages.pop()?.items ?? []) {
    const { namespace } = item.metadata;
    if (namespace !== undefined) weights.set(namespace, (weights.get(namespace) ?? 0) + weightOf(item, shapes));
  }
}

function largestNamespace(all: readonly Held[]): { namespace: string; what: Omit<LeftOut, 'mostBytes'> } | undefined {
  const total = new Map<string, number>();
  for (const { weights } of all)
    for (const [namespace, bytes] of weights) total.set(namespace, (total.get(namespace) ?? 0) + bytes);
  const [largest] = [...total].toSorted(([, a], [, b]) => b - a);
  if (!largest) return undefined;
  const [namespace, bytes] = largest;
  const of = all.toSorted((a, b) => (b.weights.get(namespace) ?? 0) - (a.weights.get(namespace) ?? 0))[0];
  return { namespace, what: { bytes, plural: of?.resource.plural ?? '' } };
}

/**
 * Bytes of heap that a value from JSON takes, about; rather too many. Objects with the same keys in the same order
 * share what V8 knows of their keys. Not recursive: its depth is a stranger's.
 * @param shapes of objects that were weighed before
 */
export function weightOf(value: unknown, shapes = new Set<string>()): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one === 'string') bytes += 24 + one.length;
    else if (typeof one !== 'object' || one === null) bytes += 8;
    else if (Array.isArray(one)) {
      bytes += 32 + 8 * one.length;
      for (const item of one) open.push(item);
    } else {
      const keys = Object.keys(one);
      const shape = keys.join();
      bytes += 56 + 8 * keys.length;
      if (!shapes.has(shape)) bytes += 72 * keys.length + 2 * shape.length;
      shapes.add(shape);
      for (const key of keys) open.push((one as Record<string, unknown>)[key]);
    }
  }
  return bytes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
