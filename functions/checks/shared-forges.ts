import { ForgeError } from '../../gitops/forges/error.ts';
import type { Forge, OpenRequests, Patience, Queue, Validators } from '../../gitops/forges/forge.ts';

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

function asksOnce(forge: Forge, signal: AbortSignal): Forge {
  const lists = once<OpenRequests>();
  const queues = once<Queue>();
  const sames = once<boolean>();
  const ofAll = () => ({ signal: AbortSignal.any([signal, AbortSignal.timeout(forgeMs)]) });
  return {
    ...forge,
    openRequests: (target, { from, signal: own }) =>
      within(
        own,
        lists([target, from], () => forge.openRequests(target, { ...ofAll(), from })),
      ),
    ...(forge.queued && {
      queued: (target: string, { signal: own }: Patience) =>
        within(
          own,
          queues([target], async () => (await forge.queued?.(target, ofAll())) ?? { commits: [] }),
        ),
    }),
    ...(forge.isUnchanged && {
      isUnchanged: (target: string, { list, queue }: Validators, { signal: own }: Patience) =>
        within(
          own,
          sames(
            [target, list, queue],
            async () => (await forge.isUnchanged?.(target, { list, queue }, ofAll())) === true,
          ),
        ),
    }),
  };
}

/** One caller's patience, for an answer that others wait for as well. @throws ForgeError Timeout */
async function within<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(new ForgeError('Timeout', 'there was no time left to wait for the forge'));
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([answer, promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Asks each question once. */
function once<T>(): (question: readonly unknown[], ask: () => Promise<T>) => Promise<T> {
  const asked = new Map<string, Promise<T>>();
  return (question, ask) => {
    const key = JSON.stringify(question);
    const found = asked.get(key) ?? ask();
    // The fleets that wait are told of its failure; perhaps none does any more.
    found.catch(() => undefined);
    asked.set(key, found);
    return found;
  };
}
