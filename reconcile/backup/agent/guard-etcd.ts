import { AsyncLocalStorage } from 'node:async_hooks';
import { isIP, type LookupFunction, Socket } from 'node:net';
import {
  assertAddress,
  assertAllowed,
  type Egress,
  EgressError,
  guardedLookup,
  strictEgress,
} from '../../../manifests/egress/egress.ts';
import { BackupFailure } from '../../jobs/failure.ts';

/** While it is not disposed of, what is connected to within it is judged by the installation's word on hosts. */
export interface EndpointGuard extends Disposable {
  within<T>(endpoint: string, work: () => Promise<T>): Promise<T>;
  /** Aborted with a `BackupFailure` as soon as a connection is not made. */
  readonly refused: AbortSignal;
}

interface Asked {
  /** As its author wrote it. */
  readonly url: URL;
  readonly egress: Egress;
  readonly refuse: (why: EgressError) => void;
}

interface Target {
  readonly host?: string;
  readonly path?: string;
  lookup?: LookupFunction;
}

const asking = new AsyncLocalStorage<Asked>();
let guards = 0;
let restore: (() => void) | undefined;

/**
 * For endpoints of etcd that an author wrote. gRPC looks names up itself, again and again: so each socket is judged as
 * it connects. @throws {BackupFailure} `HostRefused`, before anything is looked up
 */
export function guardEndpoints(endpoints: readonly string[], egress: Egress = strictEgress): EndpointGuard {
  const urls = new Map(endpoints.map((endpoint) => [endpoint, new URL(endpoint)]));
  for (const url of urls.values()) allowed(() => assertAllowed(url, false, egress));
  const refusal = new AbortController();
  const refuse = (why: EgressError) => refusal.abort(failureOf(why));
  if (guards === 0) restore = judgeSockets();
  guards += 1;
  return {
    within: (endpoint, work) => asking.run({ url: urls.get(endpoint) ?? new URL(endpoint), egress, refuse }, work),
    refused: refusal.signal,
    [Symbol.dispose]: () => {
      guards -= 1;
      if (guards === 0) restore?.();
    },
  };
}

function judgeSockets(): () => void {
  const { prototype } = Socket;
  const { connect } = prototype;
  prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
    const asked = asking.getStore();
    if (asked) {
      try {
        judge(targetIn(args), asked);
      } catch (error) {
        if (error instanceof EgressError) asked.refuse(error);
        // Its owner hears of it as of every other connection that is not made.
        process.nextTick(() => this.destroy(error as Error));
        return this;
      }
    }
    return Reflect.apply(connect, this, args);
  } as typeof connect;
  return () => {
    prototype.connect = connect;
  };
}

/** `net.connect` hands on a list of options and callback, `tls.connect` the options. @throws for any other call */
function targetIn([first]: readonly unknown[]): Target {
  const target: unknown = Array.isArray(first) ? first[0] : first;
  if (typeof target === 'object' && target !== null) return target;
  throw new TypeError('a connection to etcd does not say where it goes');
}

/** @throws {EgressError} */
function judge(target: Target, { url, egress, refuse }: Asked): void {
  const { host = 'localhost', path } = target;
  if (path !== undefined) throw new TypeError('a connection to etcd goes to no address');
  if (isIP(host) !== 0) {
    assertAddress(host, url, egress);
    return;
  }
  const guarded = guardedLookup(url, egress, target.lookup);
  target.lookup = (_, options, callback) =>
    guarded(url.hostname, options, (error, ...found) => {
      if (error instanceof EgressError) refuse(error);
      callback(error, ...found);
    });
}

function allowed(judge: () => void): void {
  try {
    judge();
  } catch (error) {
    throw error instanceof EgressError ? failureOf(error) : error;
  }
}

function failureOf({ message }: EgressError): BackupFailure {
  return new BackupFailure('HostRefused', message);
}
