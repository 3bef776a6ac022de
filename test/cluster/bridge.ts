import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

/**
 * Ways out of the sandbox, through the process outside that made it.
 *
 * A socket keeps the network namespace it was made in: so the process outside opens a listener on 127.0.0.1 and hands it
 * over, and who accepts on it inside connects on to where only the inside can reach. Files are written and removed by the
 * process outside, because what the inside calls the temporary directory is its own.
 */
type Request =
  | { readonly ratchet: 'listen'; readonly id: number }
  | { readonly ratchet: 'publish'; readonly id: number; readonly name: string; readonly text: string };
type Answer = { readonly ratchet: 'answer'; readonly id: number; readonly port?: number; readonly path?: string };

export interface Outlet extends AsyncDisposable {
  /** On 127.0.0.1 of the machine, outside the sandbox. */
  readonly port: number;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Outside: serves the sandboxed process until it ends, and takes back then what was published for it. */
export function serveOutside(child: ChildProcess): void {
  child.on('message', (message) => {
    if (!isRequest(message)) return;
    switch (message.ratchet) {
      case 'listen':
        return listen(child, message.id);
      case 'publish':
        return publish(child, message);
      default:
        return message satisfies never;
    }
  });
}

function listen(child: ChildProcess, id: number): void {
  const server = createServer();
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address === null || typeof address === 'string') return;
    const answer: Answer = { ratchet: 'answer', id, port: address.port };
    // Once it is handed over, our own copy would only steal connections.
    child.send(answer, server, () => server.close());
  });
}

function publish(child: ChildProcess, { id, name, text }: Extract<Request, { ratchet: 'publish' }>): void {
  const directory = mkdtempSync(join(tmpdir(), 'etcd-ratchet-'));
  child.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, name);
  writeFileSync(path, text, { mode: 0o600 });
  child.send({ ratchet: 'answer', id, path } satisfies Answer);
}

/**
 * Inside: makes `target` reachable from outside, on a free port of 127.0.0.1.
 *
 * @throws when this is not the process that the sandbox was made for, or nobody outside answers within 5 s.
 */
export async function openOutlet(target: Target): Promise<Outlet> {
  const { answer, handle } = await ask((id) => ({ ratchet: 'listen', id }));
  if (!(handle instanceof Server) || answer.port === undefined) throw new Error('outside answered without a listener');
  const open = new Set<Socket>();
  handle.on('connection', (inbound: Socket) => splice(inbound, connect(target), open));
  return {
    port: answer.port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => handle.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/**
 * Inside: puts a file where it can be read outside, by this user only. Resolves with its path; it goes with the sandbox.
 *
 * @throws as `openOutlet` does.
 */
export async function publishOutside(name: string, text: string): Promise<string> {
  const { answer } = await ask((id) => ({ ratchet: 'publish', id, name, text }));
  if (answer.path === undefined) throw new Error('outside answered without a path');
  return answer.path;
}

async function ask(request: (id: number) => Request): Promise<{ answer: Answer; handle: unknown }> {
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
    const onMessage = (message: unknown, handle: unknown) => {
      if (!isAnswer(message) || message.id !== id) return;
      stop();
      resolve({ answer: message, handle });
    };
    process.on('message', onMessage);
    process.send?.(request(id));
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

function isRequest(message: unknown): message is Request {
  const kind = kindOf(message);
  return kind === 'listen' || kind === 'publish';
}

function isAnswer(message: unknown): message is Answer {
  return kindOf(message) === 'answer';
}

/** Other messages pass on the same channel: a test runner's, for one. */
function kindOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'ratchet' in message ? message.ratchet : undefined;
}
