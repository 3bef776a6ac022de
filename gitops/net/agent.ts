import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { assertAllowed, type Egress, guardedLookup, strictEgress } from '../../manifests/egress/egress.ts';
import { type ProxyEnvironment, usableProxy } from './proxy.ts';

export interface Network {
  readonly proxy?: ProxyEnvironment;
  /** Absent: what an installation that says nothing allows. */
  readonly egress?: Egress;
  /** In place of the system's. */
  readonly lookup?: LookupFunction;
}

export interface Way {
  /** PEM; trusted in addition to the public authorities. */
  readonly caBundle?: string | undefined;
  readonly network?: Network | undefined;
  /** Whether credentials go along. */
  readonly withSecret: boolean;
  /** Connections are kept until the route ends. Without it, each ends with its request. */
  readonly keepAlive?: boolean;
}

export interface Route {
  readonly agent: HttpAgent | HttpsAgent;
  /** Ends every connection, also one that is only being made: Node hears of no abort while a proxy opens its tunnel. */
  end(): void;
}

/**
 * Which authorities to trust, and through which proxy to go. Node tunnels HTTPS by CONNECT, so a proxy sees neither
 * credentials nor content; it judges then where a name leads.
 * @throws {EgressError} where the installation does not let us go there; Error with code ERR_PROXY_INVALID_CONFIG
 */
export function routeTo(url: URL, { caBundle, network = {}, withSecret, keepAlive = false }: Way): Route {
  const { proxy, egress = strictEgress } = network;
  assertAllowed(url, withSecret, egress);
  const lookup = guardedLookup(url, egress, network.lookup);
  const options = { keepAlive, lookup, ...(proxy && { proxyEnv: usableProxy(proxy) }) };
  const agent =
    url.protocol === 'https:'
      ? new HttpsAgent({ ...options, ...(caBundle && { ca: [...rootCertificates, caBundle] }) })
      : new HttpAgent(options);
  const sockets = new Set<NonNullable<ReturnType<HttpAgent['createConnection']>>>();
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (...args) => {
    const socket = connect(...args);
    if (socket) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    return socket;
  };

  function end(): void {
    agent.destroy();
    for (const socket of sockets) {
      // A waiting request gets this error; without one it may be ignored.
      socket.on('error', () => undefined);
      socket.destroy(new Error('given up'));
    }
  }

  return { agent, end };
}
