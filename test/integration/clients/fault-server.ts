import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../../support/git/certificate.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface FaultServer extends AsyncDisposable {
  readonly port: number;
  /** A service account's directory that trusts this server, with the token `first-token`. */
  readonly directory: string;
  /** Every request line so far, like `GET /api/v1/pods`. */
  readonly requests: readonly string[];
  /** How many connections were opened so far. */
  connections(): number;
  /** From now on, this is how requests are answered. */
  answer(handler: Handler): void;
}

/** A server on loopback with a certificate of its own that answers as a test wants it to. */
export async function startFaultServer(handler: Handler): Promise<FaultServer> {
  const certificate = selfSigned();
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-faults-'));
  await writeFile(join(directory, 'ca.crt'), certificate.cert);
  await writeFile(join(directory, 'token'), 'first-token\n');
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let opened = 0;
  let current = handler;
  const server = createServer({ ...certificate }, (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    current(request, response);
  });
  server.on('connection', (socket: Socket) => {
    opened += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    directory,
    requests,
    connections: () => opened,
    answer: (next) => {
      current = next;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function text(status: number, type: string, body: string, headers: Record<string, string> = {}): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(body);
  };
}

export function status(code: number, reason: string, message: string, details?: Record<string, unknown>): Handler {
  return json(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details });
}

/** What the handlers say, one after the other; the last one for good. */
export function inTurn(...handlers: readonly Handler[]): Handler {
  let turn = 0;
  return (request, response) => {
    const handler = handlers[Math.min(turn, handlers.length - 1)];
    turn += 1;
    handler?.(request, response);
  };
}
