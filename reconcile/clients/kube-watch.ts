import type { IncomingMessage } from 'node:http';
import type { KubeObject, WatchEvent } from '../interfaces/kube.ts';
import type { Target } from './kube-address.ts';
import { failure, refusal } from './kube-errors.ts';

// An object is at most 1.5 MiB in etcd; as JSON with its managed fields it may be larger.
const maxLineBytes = 8 * 1024 * 1024;

/** The events of a watch, one JSON document per line. Ends quietly on abort. @throws {KubeError} */
export async function* watchEvents<T extends KubeObject>(
  target: Target,
  message: IncomingMessage,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>> {
  try {
    for await (const line of linesOf(target, message)) {
      if (signal.aborted) return;
      const event = parsed(target, line);
      switch (event.type) {
        case 'ADDED':
        case 'MODIFIED':
        case 'DELETED':
          yield { type: event.type, object: event.object as T };
          break;
        case 'BOOKMARK':
          break;
        case 'ERROR': {
          const { code, reason, message: words } = event.object as { code?: number; reason?: string; message?: string };
          throw refusal(target, { code: code ?? 500, reason: code === 410 ? 'Expired' : reason, message: words });
        }
        default:
          throw failure(target, 'BadAnswer', `an event of the unknown type ${JSON.stringify(event.type)}`);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    message.destroy();
  }
}

async function* linesOf(target: Target, message: IncomingMessage): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8');
        rest = [];
        size = 0;
        from = end + 1;
      }
      rest.push(chunk.subarray(from));
      size += chunk.length - from;
      if (size > maxLineBytes) throw failure(target, 'BadAnswer', `an event is larger than ${maxLineBytes} bytes`);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw failure(target, 'Unreachable', 'the connection broke during the watch', { cause: error });
  }
  if (size > 0) throw failure(target, 'BadAnswer', 'the watch ended in the middle of an event');
}

function parsed(target: Target, line: string): { type: unknown; object: unknown } {
  try {
    const event: unknown = JSON.parse(line);
    const { type, object } = event as { type?: unknown; object?: unknown };
    if (typeof object === 'object' && object !== null) return { type, object };
  } catch (cause) {
    throw failure(target, 'BadAnswer', 'an event that is not JSON', { cause });
  }
  throw failure(target, 'BadAnswer', 'an event without an object');
}
