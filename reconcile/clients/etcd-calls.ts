/**
 * Rules for every call to etcd: no retries (a repeated membership call meets its own first attempt), a deadline on each
 * (etcd3 has none, and `dialTimeout` does nothing), one client per endpoint (with several, etcd3 asks at random).
 */

import type { Interceptor } from '@grpc/grpc-js';
import type { Etcd3 } from 'etcd3';
import { EtcdError, type EtcdTls } from '../interfaces/etcd.ts';
import { traced } from '../stepping/traced.ts';
import { etcdError, tlsError } from './etcd-errors.ts';
import { type Defect, type Secured, secured } from './etcd-tls.ts';
import type { Connection } from './etcd3.ts';
import { type Limit, limitOf } from './limit.ts';
import { diagnosePlaintext, diagnoseTls } from './tls-probe.ts';
import { mayHideTls } from './tls-problems.ts';

export interface EtcdOptions {
  /** For one call to one endpoint, in milliseconds, where the call has no other time of its own. Default: 2,000. */
  readonly callTimeoutMs?: number;
  /** For endpoints with `https:`. Those with `http:` are asked in plaintext, also with it. */
  readonly tls?: EtcdTls;
  /** Runs everything that connects to an endpoint, so that what it opens can be told from all else. */
  readonly within?: <T>(endpoint: string, work: () => Promise<T>) => Promise<T>;
}

export type CallOptions = { readonly deadline: Date; readonly interceptors: Interceptor[] };

/** A question that is asked with etcd3. `options` belong to every call that it makes. */
export type Question<T> = (client: Etcd3, options: CallOptions) => Promise<T>;

export interface Calls {
  /** One call to one endpoint. @throws {EtcdError} and nothing else. */
  ask<T>(call: string, endpoint: string, signal: AbortSignal, run: Question<T>, timeoutMs?: number): Promise<T>;
  /** The same guards around something that is not gRPC. @throws {EtcdError} and nothing else. */
  fetch<T>(
    call: string,
    endpoint: string,
    signal: AbortSignal,
    run: (limit: Limit, own: Secured | undefined) => Promise<T>,
  ): Promise<T>;
  /** Ends what is still asked, and refuses what is asked later. */
  close(): void;
}

/** Connects to nothing yet; etcd3 itself is loaded by the first call. @param windowBytes see `connect` in etcd3.ts */
export function guardedCalls(
  { callTimeoutMs = 2_000, tls, within = (_, work) => work() }: EtcdOptions,
  windowBytes?: number,
): Calls {
  const connections = new Map<string, Used>();
  const closing = new AbortController();
  let library: Promise<typeof import('./etcd3.ts')> | undefined;
  let security: Secured | Defect | undefined;

  return {
    ask,
    fetch: (call, endpoint, signal, run) => bounded(call, endpoint, signal, callTimeoutMs, run),
    close: () => {
      closing.abort(new Error('the etcd client was closed'));
      for (const { connection } of connections.values()) connection.close();
      connections.clear();
    },
  };

  /** Loading it takes 0.1 s, which a pass that finds nothing to ask can save. */
  function loaded(): Promise<typeof import('./etcd3.ts')> {
    library ??= import('./etcd3.ts');
    return library;
  }

  function ask<T>(
    call: string,
    endpoint: string,
    signal: AbortSignal,
    run: Question<T>,
    timeoutMs: number = callTimeoutMs,
  ): Promise<T> {
    return bounded(call, endpoint, signal, timeoutMs, async (limit, own) => {
      // Not of the member's time: with little of a processor, loading alone can take longer than a member may.
      limit.stopClock();
      const { connect, cancelledBy } = await loaded();
      limit.signal.throwIfAborted();
      limit.startClock();
      const used = connections.get(endpoint) ?? {
        connection: connect(endpoint, own, windowBytes),
        calls: 0,
        left: false,
      };
      connections.set(endpoint, used);
      used.calls += 1;
      // A little after our own limit: it is there for what an interceptor cannot reach.
      const deadline = new Date(Date.now() + timeoutMs + 100);
      try {
        const options = { deadline, interceptors: [cancelledBy(limit.signal)] };
        return await used.connection.ask((client) => run(client, options));
      } catch (cause) {
        // The next call is not to wait for this connection's back-off, nor to be told of a failure that was before its
        // time.
        if (etcdError(call, endpoint, cause).outcome !== 'refused') leave(endpoint, used);
        throw cause;
      } finally {
        used.calls -= 1;
        if (used.left && used.calls === 0) used.connection.close();
      }
    });
  }

  /** Other calls may still wait for it, of a member that is only slow: it is closed after the last of them. */
  function leave(endpoint: string, used: Used): void {
    used.left = true;
    if (connections.get(endpoint) === used) connections.delete(endpoint);
  }

  async function bounded<T>(
    call: string,
    endpoint: string,
    signal: AbortSignal,
    timeoutMs: number,
    run: (limit: Limit, own: Secured | undefined) => Promise<T>,
  ): Promise<T> {
    if (closing.signal.aborted) throw new EtcdError(`${call} at ${endpoint}: the client was closed`, 'down');
    if (signal.aborted) throw new EtcdError(`${call} at ${endpoint}: not asked, the time was up already`, 'down');
    const own = securityFor(call, endpoint);
    const limit = limitOf(signal, timeoutMs);
    const stop = () => limit.stop(closing.signal.reason);
    closing.signal.addEventListener('abort', stop, { once: true });
    try {
      const asking = () => limit.race(within(endpoint, () => run(limit, own)));
      return await traced(`etcd ${call}`, { call, endpoint: hostOf(endpoint) }, asking, 'etcd');
    } catch (cause) {
      if (cause instanceof EtcdError || !limit.expired())
        throw await within(endpoint, () => explained(call, endpoint, cause, own, limit));
      // An error of node:tls that came just then bears the certificate.
      throw new EtcdError(`${call} at ${endpoint}: no answer ${limit.words()}`, 'ambiguous', own ? undefined : cause);
    } finally {
      closing.signal.removeEventListener('abort', stop);
      limit.release();
    }
  }

  function securityFor(call: string, endpoint: string): Secured | undefined {
    if (!endpoint.startsWith('https:')) return undefined;
    security ??= tls === undefined ? { defect: 'no certificates for it are known' } : secured(tls);
    if (!('defect' in security)) return security;
    throw new EtcdError(`${call} at ${endpoint}: not asked, ${security.defect}`, 'down', undefined, 'HandshakeFailed');
  }
}

function hostOf(endpoint: string): string {
  return URL.parse(endpoint)?.host ?? '';
}

/** One connection to an endpoint, and how many calls wait for it. */
interface Used {
  readonly connection: Connection;
  calls: number;
  left: boolean;
}

/** An endpoint that hung up without a word is looked at once more: it may be well, and only TLS between us. */
async function explained(
  call: string,
  endpoint: string,
  cause: unknown,
  own: Secured | undefined,
  { signal }: Limit,
): Promise<EtcdError> {
  const parties = { serverName: own?.serverName(endpoint) ?? '', ours: own?.ours() };
  const error = etcdError(call, endpoint, cause, own && parties);
  if (error.tls !== undefined || error.outcome === 'refused' || !mayHideTls(error.message)) return error;
  const finding = await (own ? diagnoseTls(endpoint, own, signal) : diagnosePlaintext(endpoint, signal));
  // What was done to the call is what its own words say: the look at the endpoint came later.
  return finding === undefined ? error : tlsError(call, endpoint, finding, parties, error.outcome);
}
