import { isReason, type KubeObject } from '../interfaces/kube.ts';
import type { Kind, KindContext } from './kind.ts';
import type { Listed } from './lists.ts';
import { keyOfItem, worthStepping } from './step-kind.ts';

export interface ListedAgain {
  readonly items: readonly KubeObject[];
  /** Those of them that are worth a step. */
  readonly worth: readonly KubeObject[];
  /** For the steps: they list the same namespaces. */
  readonly context: KindContext;
}

/** One LIST each costs less than one of all, as long as there are few. */
const mostNamespaces = 4;

/**
 * What another look at these needs, and nothing of other namespaces: what fills those delays no look. All, where
 * more is needed than that, or it can't be told. @throws {KubeError}
 */
export async function listAgain(
  name: string,
  kind: Kind,
  context: KindContext,
  keys: ReadonlySet<string>,
): Promise<ListedAgain> {
  const own = [...new Set([...keys].map((key) => key.slice(0, key.indexOf('/'))))];
  return (await listNeeded(kind, context, keys, own)) ?? listed(kind, context, await context.lists.fresh(name));
}

/** The second time with what the objects that were found need besides. */
async function listNeeded(
  kind: Kind,
  context: KindContext,
  keys: ReadonlySet<string>,
  within: readonly string[],
  mayWiden = true,
): Promise<ListedAgain | undefined> {
  const found = await listWithin(kind, context, within);
  const looked = found?.worth.filter((one) => keys.has(keyOfItem(one)));
  const needed = looked && kind.looksInto?.(looked, context);
  if (!needed) return undefined;
  if ([...needed].every((one) => within.includes(one))) return found;
  return mayWiden ? listNeeded(kind, context, keys, [...new Set([...within, ...needed])], false) : undefined;
}

async function listWithin(kind: Kind, whole: KindContext, within: readonly string[]): Promise<ListedAgain | undefined> {
  const leftOut = whole.kube.leftOut();
  const isWhole = !kind.looksInto || whole.namespace !== undefined || within.length > mostNamespaces;
  if (isWhole || within.some((one) => leftOut.has(one))) return undefined;
  // A look of its own, whose lists are gone after it.
  const context = { ...whole, within, kube: whole.kube.bounded() };
  try {
    return listed(kind, context, await kind.lister(context)());
  } catch (error) {
    if (!isReason(error, 'TooLarge')) throw error;
    return undefined;
  }
}

function listed(kind: Kind, context: KindContext, { items }: Listed): ListedAgain {
  return { items, worth: worthStepping(kind, items, context), context };
}
