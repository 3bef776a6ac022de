import type { ChildProcess } from 'node:child_process';
import { connect, createServer, Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

/**
 * A way into the sandbox from outside. A socket keeps the network namespace it was made in: so the process outside
 * opens a listener on 127.0.0.1 and hands it over, and who accepts on it inside connects on to where only the inside
 * can reach.
 */
interface Request {
  readonly ratchet: 'listen';
  readonly id: number;
}
interface Answer {
  readonly ratchet: 'listening';
  readonly id: number;
  readonly port: number;
}

export interface Outlet extends AsyncDisposable {
  /** On 127.0.0.1 of the machine, outside the sandbox. */
  readonly port: number;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Outside: gives the sandboxed process a listener for each that it asks for. */
export function answerListenRequests(child: ChildProcess): void {
  child.on('message', (message) => {
    if (!isMessage<Request>(message, 'listen')) return;
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') return;
      const answer: Answer = { ratchet: 'listening', id: message.id, port: address.port };
      // Once it is handed over, our own copy would only steal connections.
      child.send(answer, server, () => server.close());
    });
  });
}

/**
 * Inside: makes `target` reachable from outside, on a free port of 127.0.0.1.
 *
 * @throws when this is not the process that the sandbox was made for, or nobody outside answers within 5 s.
 */
export async function openOutlet(target: Target): Promise<Outlet> {
  const { server, port } = await askForListener();
  const open = new Set<Socket>();
  server.on('connection', (inbound: Socket) => splice(inbound, connect(target), open));
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

async function askForListener(): Promise<{ server: Server; port: number }> {
  if (!process.send) throw new Error('only the process that the sandbox was made for can be reached from outside');
  const id = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
  return await new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      process.off('message', onMessage);
    };
    const timer = setTimeout(() => {
      stop();
      reject(new Error('nobody outside answered within 5 s'));
    }, 5_000);
    const onMessage = (message: unknown, server: unknown) => {
      if (!isMessage<Answer>(message, 'listening') || message.id !== id) return;
      stop();
      if (server instanceof Server) resolve({ server, port: message.port });
      else reject(new Error('outside answered without a listener'));
    };
    process.on('message', onMessage);
    process.send?.({ ratchet: 'listen', id } satisfies Request);
  });
}

function splice(inbound: Socket, outbound: Socket, open: Set<Socket>): void {
  for (const socket of [inbound, outbound]) {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  }
  // A broken half breaks the whole: each peer sees the connection end, which is the true report of what happened.
  const ended = (error: unknown) => {
    if (!error) return;
    inbound.destroy();
    outbound.destroy();
  };
  pipeline(inbound, outbound, ended);
  pipeline(outbound, inbound, ended);
}

/** Other messages pass on the same channel: a test runner's, for one. */
function isMessage<M extends { ratchet: string }>(message: unknown, kind: M['ratchet']): message is M {
  return typeof message === 'object' && message !== null && 'ratchet' in message && message.ratchet === kind;
}
