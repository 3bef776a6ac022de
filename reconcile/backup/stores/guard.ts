import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { assertAllowed, type Egress, EgressError, guardedLookup } from '../../../manifests/egress/egress.ts';
import { urlOf } from '../../../manifests/render/hosts.ts';
import { type HostPattern, hostOf } from '../../../manifests/render/listed-hosts.ts';
import { withoutRedirect } from './redirects.ts';

/** While it is not disposed of, every HTTP connection of this process goes only where the installation lets it. */
export interface Guard extends Disposable {
  /** Resolves when one is not made, with the reason. */
  readonly refused: Promise<EgressError>;
}

interface Watch {
  readonly egress: Egress;
  readonly identity: readonly string[];
  readonly refuse: (why: EgressError) => void;
}

type Options = Parameters<HttpAgent['createConnection']>[0];

/** What Node's types leave out: an agent takes each request here, also one for a connection that is open. */
interface Taking {
  addRequest(this: HttpAgent, request: unknown, options: Options, ...rest: unknown[]): void;
}

/** Where the client of a store goes besides its endpoint. */
export interface OwnHosts {
  /** The vendor's: tokens come from there, and regions. */
  readonly vendor: readonly HostPattern[];
  /** Hosts at port 80 that give a pod its identity, asked by these names; a store of such a name is refused. */
  readonly identity: readonly string[];
}

/** Of stores that are open: one, but for tests. */
const watches = new Set<Watch>();
let restore: readonly (() => void)[] = [];
const tokens = new AsyncLocalStorage<true>();

/** The request for a token: it alone may go to the hosts that give a pod its identity. */
export function forToken<T>(ask: () => T): T {
  return tokens.run(true, ask);
}

/**
 * The clients of stores make their own agents, and follow redirects: so requests and connections are judged where all
 * agents take them. The judged address is the one connected to, however often a name changes its mind.
 */
export function guardConnections(egress: Egress, { vendor, identity }: OwnHosts): Guard {
  const { hosts } = egress;
  const { promise: refused, resolve: refuse } = Promise.withResolvers<EgressError>();
  const watch: Watch = { egress: { ...egress, ...(hosts && { hosts: [...hosts, ...vendor] }) }, identity, refuse };
  if (watches.size === 0)
    restore = [judgeAll(HttpAgent, 'http'), judgeAll(HttpsAgent, 'https'), judgeOpen(), followNothing()];
  watches.add(watch);
  return {
    refused,
    [Symbol.dispose]: () => {
      watches.delete(watch);
      if (watches.size > 0) return;
      for (const one of restore) one();
      restore = [];
    },
  };
}

function judgeAll({ prototype }: typeof HttpAgent, scheme: 'http' | 'https'): () => void {
  const { createConnection } = prototype;
  prototype.createConnection = function (options, callback) {
    return createConnection.call(this, judged(options, scheme), callback);
  };
  return () => {
    prototype.createConnection = createConnection;
  };
}

/** A connection that a request for a token has left open takes no other request. */
function judgeOpen(): () => void {
  const prototype = HttpAgent.prototype as unknown as Taking;
  const { addRequest } = prototype;
  prototype.addRequest = function (request, options, ...rest) {
    if (!(this instanceof HttpsAgent)) judged(options, 'http');
    addRequest.call(this, request, options, ...rest);
  };
  return () => {
    prototype.addRequest = addRequest;
  };
}

function followNothing(): () => void {
  const channel = 'http.client.response.finish';
  subscribe(channel, withoutRedirect);
  return () => {
    unsubscribe(channel, withoutRedirect);
  };
}

/** @throws {EgressError} */
function judged(options: Options, scheme: 'http' | 'https'): Options {
  const { host, port, lookup } = options as { host?: string; port?: number | string; lookup?: LookupFunction };
  const url = new URL(urlOf(scheme, host ?? 'localhost', port ?? (scheme === 'https' ? 443 : 80)));
  const isToken = tokens.getStore() === true && scheme === 'http' && url.port === '';
  const judges = [...watches].filter(({ identity }) => !(isToken && identity.includes(hostOf(url))));
  if (judges.length === 0) return options;
  const guarded = judges.reduce<LookupFunction | undefined>((last, watch) => watched(url, watch, last), lookup);
  return { ...options, lookup: guarded };
}

/** @throws {EgressError} where the words of the address tell that it is refused */
function watched(url: URL, watch: Watch, lookup: LookupFunction | undefined): LookupFunction {
  try {
    assertAllowed(url, false, watch.egress);
  } catch (error) {
    if (error instanceof EgressError) watch.refuse(error);
    throw error;
  }
  const guarded = guardedLookup(url, watch.egress, lookup);
  return (_, options, callback) =>
    guarded(url.hostname, options, (error, ...found) => {
      if (error instanceof EgressError) watch.refuse(error);
      callback(error, ...found);
    });
}
