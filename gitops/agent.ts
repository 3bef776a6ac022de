import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { rootCertificates } from 'node:tls';
import { type ProxyEnvironment, usableProxy } from './proxy.ts';

export interface Way {
  /** PEM; trusted in addition to the public authorities. */
  readonly caBundle?: string | undefined;
  readonly proxy?: ProxyEnvironment | undefined;
  /** Connections are kept until the agent is destroyed. Without it, each ends with its request. */
  readonly keepAlive?: boolean;
}

/**
 * How to get to a host: whom to trust, and through which proxy. Node tunnels HTTPS by CONNECT, so that a proxy sees neither
 * credentials nor content.
 *
 * @throws Error with code ERR_PROXY_INVALID_CONFIG
 */
export function agentFor(secure: boolean, { caBundle, proxy, keepAlive = false }: Way): HttpAgent | HttpsAgent {
  const options = { keepAlive, ...(proxy && { proxyEnv: usableProxy(proxy) }) };
  if (!secure) return new HttpAgent(options);
  return new HttpsAgent({ ...options, ...(caBundle && { ca: [...rootCertificates, caBundle] }) });
}
