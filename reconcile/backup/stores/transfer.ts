import { setTimeout as pause } from 'node:timers/promises';
import { BackupFailure } from '../../jobs/failure.ts';

/** What all clients of object stores have in common. */

/** How long a store may take nothing, or send nothing, while we wait for it, in milliseconds. */
const stallMs = 120_000;
/** How often a read that broke off goes on where it was, without a byte in between. */
const attempts = 5;

/** @throws {BackupFailure} Stalled */
export async function patiently<T>(promise: Promise<T>, what: string, ms = stallMs): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(
      new BackupFailure('Stalled', `${what}: nothing moved for ${ms / 1000} s; look at the network, then try again`),
    );
  }, ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The next page of a list, by its token. @throws {BackupFailure} where a store leads back to the one that was read. */
export function nextPage(next: string | undefined, read: string | undefined, place: string): string | undefined {
  if (next === undefined || next !== read) return next;
  throw new BackupFailure(
    'StoreRefused',
    `${place} gives the same page of its list again and again: see that it is a store that speaks this protocol`,
  );
}

export interface Resumable {
  /** For messages: the object's whole name. */
  readonly what: string;
  /** Reads the same version of the object from this byte on. Its error, once classified, tells whether to go on. */
  readonly open: (from: number) => AsyncIterable<Uint8Array>;
  readonly failureOf: (error: unknown) => unknown;
  readonly signal: AbortSignal;
}

/** A connection that carries gigabytes breaks now and then: the rest is asked for again. */
export async function* resumed({ what, open, failureOf, signal }: Resumable): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (let failed = 0; ; ) {
    try {
      const iterator = open(from)[Symbol.asyncIterator]();
      for (;;) {
        const next = await patiently(iterator.next(), what);
        if (next.done) return;
        from += next.value.length;
        failed = 0;
        yield next.value;
      }
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error);
      const passing =
        failure instanceof BackupFailure && (failure.reason === 'Unreachable' || failure.reason === 'Stalled');
      failed += 1;
      if (!passing || failed === attempts) throw failure;
      await pause(100 * 2 ** failed, undefined, { signal });
    }
  }
}

/** Codes of Node's for a network that fails, at whatever depth a client hides them. */
const networkCodes = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EHOSTUNREACH ENETUNREACH ENETDOWN ENOTFOUND EAI_AGAIN EPIPE ETIMEDOUT ERR_STREAM_PREMATURE_CLOSE UND_ERR_SOCKET'.split(
    ' ',
  ),
);

const certificateCodes = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_)/;

/** `undefined` where it is not the network. */
export function networkFailure(error: unknown, place: string): BackupFailure | undefined {
  for (let one = Object(error), depth = 0; depth < 5; one = Object(one.cause), depth++) {
    const { code } = one as { readonly code?: unknown };
    if (typeof code !== 'string') continue;
    if (networkCodes.has(code)) {
      const cure = 'see that the address is right and that network policies let this pod out, then try again';
      return new BackupFailure('Unreachable', `${place} can't be reached (${code}): ${cure}`);
    }
    if (certificateCodes.test(code)) {
      const cure = 'put the authority that signed it into a Secret or ConfigMap, and name that in caBundle';
      return new BackupFailure('NotTrusted', `${place} shows a certificate that is not trusted (${code}): ${cure}`);
    }
  }
  return undefined;
}
