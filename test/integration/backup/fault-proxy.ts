import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** What becomes of one request. */
export type Fault =
  | 'pass'
  /** An answer with this status, without asking the store. */
  | { readonly status: number; readonly body?: string }
  /** So many bytes of its body reach the store, then both connections are reset. */
  | { readonly resetAfter: number }
  /** The store carries it out, and the connection is lost before the answer. */
  | 'loseAnswer'
  /** So many bytes of the answer come, then the connection is reset. */
  | { readonly cutAnswerAfter: number }
  /** Bytes a second, of the request. */
  | { readonly slow: number };

/** What an emulator lacks of the real thing. */
export interface Shim {
  /** In the emulator's place. */
  answer(incoming: IncomingMessage): { status: number; headers: Record<string, string>; body: string } | undefined;
  /** Told of what the emulator answered. */
  answered(incoming: IncomingMessage, status: number, body: string): void;
}

export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
  /** Where the store is; known after the proxy, as stores want to know how they are reached. */
  target: string;
  /** Asked for every request, with its number from 0. */
  fault: (request: IncomingMessage, number: number) => Fault;
  readonly faults: () => number;
}

/** Between a client and an emulator: what networks and stores do on bad days. */
export async function startFaultProxy(shim?: Shim): Promise<FaultProxy> {
  let seen = 0;
  let faults = 0;
  const server = createServer((incoming, answer) => {
    const fault = proxy.fault(incoming, seen++);
    if (fault !== 'pass') faults += 1;
    void forward({ target: proxy.target, shim }, incoming, answer, fault);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: '',
    fault: () => 'pass',
    faults: () => faults,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}

async function forward(
  { target, shim }: { readonly target: string; readonly shim: Shim | undefined },
  incoming: IncomingMessage,
  answer: ServerResponse,
  fault: Fault,
): Promise<void> {
  const { socket } = incoming;
  const reset = () => {
    socket.resetAndDestroy();
  };
  incoming.on('error', () => undefined);
  if (typeof fault === 'object' && 'status' in fault) {
    incoming.resume();
    const type = fault.body === undefined ? 'text/plain' : 'application/xml';
    answer.writeHead(fault.status, { 'content-type': type, connection: 'close' }).end(fault.body ?? 'injected');
    return;
  }
  const instead = shim?.answer(incoming);
  if (instead !== undefined) {
    incoming.resume();
    if (fault === 'loseAnswer') return reset();
    answer.writeHead(instead.status, instead.headers).end(instead.body);
    return;
  }
  const { hostname, port } = new URL(target);
  const { method = 'GET', url = '/', headers } = incoming;
  // With the host as the client wrote it: it is signed.
  const upstream = request({ hostname, port, method, path: url, headers });
  upstream.on('error', reset);
  answer.on('close', () => upstream.destroy());
  upstream.on('response', (response) => {
    if (shim !== undefined && method === 'PUT') {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk;
      });
      response.once('end', () => shim.answered(incoming, response.statusCode ?? 0, body));
    }
    if (fault === 'loseAnswer') {
      response.resume();
      response.once('end', reset);
      return;
    }
    answer.writeHead(response.statusCode ?? 502, response.headers);
    let left = typeof fault === 'object' && 'cutAnswerAfter' in fault ? fault.cutAnswerAfter : Number.POSITIVE_INFINITY;
    response.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) reset();
      else if (!answer.write(chunk)) {
        response.pause();
        answer.once('drain', () => response.resume());
      }
    });
    response.on('end', () => answer.end());
    response.on('error', reset);
  });
  let left = typeof fault === 'object' && 'resetAfter' in fault ? fault.resetAfter : Number.POSITIVE_INFINITY;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      left -= chunk.length;
      if (left < 0) {
        upstream.destroy();
        return reset();
      }
      if (typeof fault === 'object' && 'slow' in fault) await pause((chunk.length / fault.slow) * 1000);
      if (!upstream.write(chunk)) await once(upstream, 'drain');
    }
    upstream.end();
  } catch {
    // Either side went away, which is what the other is told.
    upstream.destroy();
    reset();
  }
}
