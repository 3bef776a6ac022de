import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';

export interface Listening {
  readonly port: number;
  /** Takes nothing new, waits for what is under way (bounded), and lets go of every connection. */
  close(): Promise<void>;
}

/** Milliseconds and bytes: bounds for strangers, before any of our code sees them. */
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

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Above `most` connections the one goes that was idle longest. One that waits for its whole request's answer stays. */
function shedIdle(server: Server, most: number): void {
  /** The oldest first. */
  const open = new Map<Socket, Set<Exchange>>();

  server.on('connection', (socket) => {
    open.set(socket, new Set());
    socket.once('close', () => open.delete(socket));
    if (open.size > most) oldestIdle()?.destroy();
  });

  server.on('request', (request, response) => {
    const { socket } = request;
    const exchange = { request, response };
    open.get(socket)?.add(exchange);
    response.once('close', () => {
      const exchanges = open.get(socket);
      if (!exchanges) return;
      exchanges.delete(exchange);
      // What has just been answered is the youngest of those that wait.
      open.delete(socket);
      open.set(socket, exchanges);
    });
  });

  function oldestIdle(): Socket | undefined {
    for (const [socket, exchanges] of open) if (!socket.destroyed && ![...exchanges].some(isWhole)) return socket;
    return undefined;
  }
}

/** Its body is there to the last byte, and its answer is not sent. */
function isWhole({ request, response }: Exchange): boolean {
  return request.complete && !response.writableFinished;
}
