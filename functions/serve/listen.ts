import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { shedIdle } from './shed-idle.ts';

export interface Listening {
  readonly port: number;
  /** Takes nothing new, waits for what is under way (bounded), and lets go of every connection. */
  close(): Promise<void>;
}

/**
 * Milliseconds and bytes. Everything that a stranger can make us hold is bounded here, before any of our code sees it.
 */
const limits = {
  headerBytes: 16 * 1024,
  headers: 100,
  headersMs: 5_000,
  /** For the whole request, its body included: who is slower is cut off. Forges wait no longer for their answer. */
  requestMs: 10_000,
  idleMs: 5_000,
  /** Where there are more, the oldest goes that has sent no whole request. */
  connections: 1024,
  /** Where a burst waits to be accepted. What finds no room there asks again a second later. */
  backlog: 4096,
  requestsPerConnection: 1000,
  /** Less than the grace that Kubernetes gives. */
  closingMs: 25_000,
} as const;

/** Milliseconds after which each of them is noticed. */
const lookMs = 1_000;

/** @throws when the address is taken, or not ours */
export async function listen(
  app: Hono,
  { host, port }: { readonly host?: string; readonly port: number },
  { requestMs = limits.requestMs, headersMs = limits.headersMs }: { requestMs?: number; headersMs?: number } = {},
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch: app.fetch,
    // Never ours to replace: other libraries rely on the global Request.
    overrideGlobalObjects: false,
    serverOptions: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: Math.min(lookMs, headersMs, requestMs),
    },
  }) as Server;
  server.maxHeadersCount = limits.headers;
  // Should shedding ever fail: then the kernel turns away what is new.
  server.maxConnections = 2 * limits.connections;
  shedIdle(server, limits.connections);
  server.maxRequestsPerSocket = limits.requestsPerConnection;
  const opened = Promise.withResolvers<void>();
  server.once('error', opened.reject);
  server.listen({ port, host, backlog: limits.backlog }, opened.resolve);
  await opened.promise;
  return { port: (server.address() as AddressInfo).port, close: () => closed(server) };
}

async function closed(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Idle connections go at once; those that are answered say `connection: close`.
  server.close(() => resolve());
  const impatient = setTimeout(() => server.closeAllConnections(), limits.closingMs);
  await promise;
  clearTimeout(impatient);
}
