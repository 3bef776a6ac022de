import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { rootCertificates } from 'node:tls';
import { type ProxyEnvironment, usableProxy } from './proxy.ts';

export interface Way {
  /** PEM; trusted in addition to the public authorities. */
  readonly caBundle?: string | undefined;
  readonly proxy?: ProxyEnvironment | undefined;
  /** Connections are kept until the route ends. Without it, each ends with its request. */
  readonly keepAlive?: boolean;
}

/** How to get to a host. */
export interface Route {
  readonly agent: HttpAgent | HttpsAgent;
  /** Ends every connection, also one that is only being made: Node hears of no abort while a proxy opens its tunnel. */
  end(): void;
}

/**
 * Whom to trust, and through which proxy to go. Node tunnels HTTPS by CONNECT, so that a proxy sees neither credentials
 * nor content.
 *
 * @throws Error with code ERR_PROXY_INVALID_CONFIG
 */
export function routeTo(secure: boolean, { caBundle, proxy, keepAlive = false }: Way): Route {
  const options = { keepAlive, ...(proxy && { proxyEnv: usableProxy(proxy) }) };
  const agent = secure
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
