/** What can go wrong between two sockets, in the words of `KubeError`. */

import type { IncomingMessage } from 'node:http';
import type { Target } from './kube-address.ts';
import { failure } from './kube-errors.ts';
import type { Limit } from './limit.ts';

/** For one answer, in bytes. */
export const maxAnswerBytes = 64 * 1024 * 1024;

/** The server had closed a kept connection before our request arrived on it: the request was not seen. */
export class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
}

/** @throws {KubeError} when it does not end in time, breaks off, or is larger than so many bytes (`TooLarge`). */
export async function wholeBody(
  target: Target,
  message: IncomingMessage,
  limit: Limit,
  mostBytes: number,
): Promise<Buffer> {
  const status = message.statusCode;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > mostBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    if (limit.expired())
      throw failure(target, 'Timeout', `the answer did not end ${limit.words()}`, { status, cause, sent: true });
    throw failure(target, 'BadAnswer', `the answer broke off after ${size} bytes`, { status, cause, sent: true });
  }
  if (size > mostBytes) {
    throw failure(target, 'TooLarge', `the answer is larger than ${mostBytes} bytes`, { status, sent: true });
  }
  return Buffer.concat(chunks);
}

export function transportFailure(
  target: Target,
  server: URL,
  error: NodeJS.ErrnoException,
  { sent, reused }: { readonly sent: boolean; readonly reused: boolean },
): Error {
  const code = error.code ?? '';
  const where = `the API server ${server.host}`;
  if (/^HPE_/.test(code))
    return failure(target, 'BadAnswer', `${where} does not speak HTTP (${code})`, { cause: error, sent });
  if (/CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS|^ERR_SSL|^EPROTO$/.test(code)) {
    const message = `no trusted connection to ${where}: ${error.message} (${code})`;
    return failure(target, 'Unreachable', message, { cause: error, permanent: true });
  }
  const stale = reused && (code === 'ECONNRESET' || code === 'EPIPE');
  const cause = stale ? new StaleConnection(error.message, { cause: error }) : error;
  // Several addresses of one name fail with an AggregateError that has no message of its own.
  return failure(target, 'Unreachable', `${where} cannot be reached: ${error.message || code}`, { cause, sent });
}
