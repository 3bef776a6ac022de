import { ForgeError } from '../../gitops/forges/error.ts';
import type { Forge, OpenRequests, Patience, Queue, Validators } from '../../gitops/forges/forge.ts';
import { abortAfter } from '../../manifests/abort-after.ts';
import { ownWait } from '../own-wait.ts';

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
  const { queued, isUnchanged } = forge;
  const lists = once<OpenRequests>(signal);
  const queues = once<Queue>(signal);
  const sames = once<boolean>(signal);
  return {
    ...forge,
    openRequests: (target, { from, signal: own }) =>
      lists(own, [target, from], (patience) => forge.openRequests(target, { ...patience, from })),
    ...(queued && {
      queued: (target: string, { signal: own }: Patience) =>
        queues(own, [target], (patience) => queued(target, patience)),
    }),
    ...(isUnchanged && {
      isUnchanged: (target: string, { list, queue }: Validators, { signal: own }: Patience) =>
        sames(own, [target, list, queue], (patience) => isUnchanged(target, { list, queue }, patience)),
    }),
  };
}

/** Asks each question once, with a patience of its own. @throws {ForgeError} Timeout to a caller whose own is over */
function once<T>(signal: AbortSignal) {
  const asked = new Map<string, Promise<T>>();
  return (own: AbortSignal, question: readonly unknown[], ask: (patience: Patience) => Promise<T>): Promise<T> => {
    const key = JSON.stringify(question);
    const found = asked.get(key) ?? ask({ signal: abortAfter(forgeMs, signal) });
    // The fleets that wait are told of its failure; perhaps none does any more.
    found.catch(() => undefined);
    asked.set(key, found);
    return ownWait(found, own, timeIsUp);
  };
}

function timeIsUp(): ForgeError {
  return new ForgeError('Timeout', 'there was no time left to wait for the forge');
}
