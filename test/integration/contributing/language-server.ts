import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** A program that speaks the Language Server Protocol on its standard streams. */
export interface LanguageServer extends AsyncDisposable {
  ask(method: string, params: unknown): Promise<unknown>;
  tell(method: string, params: unknown): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

type Waiting = Map<number, PromiseWithResolvers<unknown>>;

/** In milliseconds. The first answer comes when it has read the whole program. */
const patience = 300_000;
const separator = '\r\n\r\n';

export function startLanguageServer(command: string, args: readonly string[], cwd: string): LanguageServer {
  // It would fetch types of packages that have none: nothing here asks a registry.
  const child = spawn(command, args, { cwd, env: { ...process.env, npm_config_offline: 'true' } });
  child.stderr.resume();
  const waiting: Waiting = new Map();
  let asked = 0;
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${command} ended with ${code}`));
  });
  readMessages(child.stdout, (message) => receive(message, child, waiting));
  return {
    tell: (method, params) => send(child, { method, params }),
    ask: (method, params) => {
      asked += 1;
      const answered = Promise.withResolvers<unknown>();
      waiting.set(asked, answered);
      const late = setTimeout(() => answered.reject(new Error(`no answer to ${method}`)), patience);
      send(child, { id: asked, method, params });
      return answered.promise.finally(() => clearTimeout(late));
    },
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function receive({ id, method, result, error }: Message, child: ChildProcessWithoutNullStreams, waiting: Waiting) {
  if (id === undefined) return;
  if (method !== undefined) {
    // It asks for settings, and for news of files: it gets none.
    send(child, { id, result: null });
    return;
  }
  const answered = waiting.get(id);
  waiting.delete(id);
  if (error) answered?.reject(new Error(error.message));
  else answered?.resolve(result);
}

function send({ stdin }: ChildProcessWithoutNullStreams, message: Message): void {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  stdin.write(`Content-Length: ${Buffer.byteLength(text)}${separator}${text}`);
}

function readMessages(stream: Readable, receive: (message: Message) => void): void {
  let held: Buffer = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    for (let end = endOfFirst(held); end !== undefined && end <= held.length; end = endOfFirst(held)) {
      receive(JSON.parse(held.subarray(held.indexOf(separator) + separator.length, end).toString()) as Message);
      held = held.subarray(end);
    }
  });
}

function endOfFirst(bytes: Buffer): number | undefined {
  const header = bytes.indexOf(separator);
  if (header < 0) return undefined;
  const [, length] = /Content-Length: (\d+)/i.exec(bytes.subarray(0, header).toString()) ?? [];
  if (length === undefined) throw new Error('a message has no length');
  return header + separator.length + Number(length);
}
