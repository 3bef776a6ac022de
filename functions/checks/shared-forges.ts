import type { Forge, OpenRequests, Queue } from '../../gitops/forges/forge.ts';

/** Milliseconds that a forge has for one answer. */
export const forgeMs = 8_000;

/** The fleets of one pass whose repository, forge and credentials are the same: they ask for its requests once. */
export interface SharedForges {
  /** @param access all that it was opened with: it holds credentials, and is kept for the pass alone */
  shared(access: string, forge: Forge): Forge;
}

/**
 * An error is the error of all that asked the same.
 * @param signal for all that share: one caller's patience ends nothing that others wait for
 */
export function shareForges(signal: AbortSignal): SharedForges {
  const forges = new Map<string, Forge>();
  return {
    shared(access, forge) {
      const known = forges.get(access) ?? asksOnce(forge, signal);
      forges.set(access, known);
      return known;
    },
  };
}

/** The first one's known heads are those of all. */
function asksOnce(forge: Forge, signal: AbortSignal): Forge {
  const lists = once<OpenRequests>();
  const queues = once<Queue>();
  const sames = once<boolean>();
  const patience = () => ({ signal: AbortSignal.any([signal, AbortSignal.timeout(forgeMs)]) });
  return {
    ...forge,
    openRequests: (target, look) =>
      lists([target, look.from], () => forge.openRequests(target, { ...look, ...patience() })),
    ...(forge.queued && {
      queued: (target: string) => queues([target], () => forge.queued?.(target, patience()) ?? noQueue),
    }),
    ...(forge.isUnchanged && {
      isUnchanged: (target: string, { list, queue }: { list: string; queue?: string | undefined }) =>
        sames([target, list, queue], () => forge.isUnchanged?.(target, { list, queue }, patience()) ?? notKnown),
    }),
  };
}

const noQueue = Promise.resolve<Queue>({ commits: [] });
const notKnown = Promise.resolve(false);

/** Asks each question once. */
function once<T>(): (question: readonly unknown[], ask: () => Promise<T>) => Promise<T> {
  const asked = new Map<string, Promise<T>>();
  return (question, ask) => {
    const key = JSON.stringify(question);
    const found = asked.get(key) ?? ask();
    asked.set(key, found);
    return found;
  };
}
