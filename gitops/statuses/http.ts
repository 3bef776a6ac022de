import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { rootCertificates } from 'node:tls';
import { ForgeError } from './forge.ts';

export interface ForgeRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly caBundle?: string | undefined;
}

export interface ForgeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The first bytes: enough for an error message. */
  readonly body: string;
}

/** Milliseconds for one request. Forges answer within a second; ten times that is a forge in trouble. */
export const requestMs = 10_000;
const maxBodyBytes = 64 * 1024;
const maxRedirects = 2;

/**
 * POSTs JSON: bounded in time and size, following redirects only within the same host (a renamed repository), because the
 * token goes with them.
 *
 * @throws ForgeError Timeout, ForgeUnreachable, RedirectRefused
 */
export async function postJson(request: ForgeRequest, signal: AbortSignal): Promise<ForgeAnswer> {
  const deadline = AbortSignal.timeout(requestMs);
  let url = new URL(request.url);
  try {
    for (let redirects = 0; ; redirects++) {
      const answer = await once(url, request, AbortSignal.any([signal, deadline]));
      const target = redirectTarget(answer, url);
      if (!target) return await collected(answer);
      answer.destroy();
      if (target.origin !== url.origin || redirects === maxRedirects) {
        throw new ForgeError(
          'RedirectRefused',
          `${url.origin} redirects to ${target.origin}, and the token must not follow: correct forge.apiUrl`,
        );
      }
      url = target;
    }
  } catch (cause) {
    if (cause instanceof ForgeError) throw cause;
    if (signal.aborted) throw new ForgeError('Timeout', `there was no time left to wait for ${url.origin}`, { cause });
    if (deadline.aborted)
      throw new ForgeError('Timeout', `${url.origin} did not answer within ${requestMs / 1000} s`, { cause });
    throw new ForgeError('ForgeUnreachable', `${url.origin} cannot be reached (${codeOf(cause)})`, { cause });
  }
}

function once(url: URL, { headers, body, caBundle }: ForgeRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const bytes = Buffer.from(JSON.stringify(body));
  const secure = url.protocol === 'https:';
  const sent = (secure ? requestHttps : requestHttp)(url, {
    // A connection of its own, closed at once: an idle one would keep the process from ending.
    agent: false,
    method: 'POST',
    signal,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': bytes.length,
      'user-agent': 'etcd-ratchet',
    },
    ...(secure && caBundle ? { ca: [...rootCertificates, caBundle] } : {}),
  });
  sent.on('error', reject);
  sent.on('response', resolve);
  sent.end(bytes);
  return promise;
}

function redirectTarget({ statusCode, headers }: IncomingMessage, base: URL): URL | undefined {
  if (![301, 302, 307, 308].includes(statusCode ?? 0) || headers.location === undefined) return undefined;
  return URL.parse(headers.location, base.href) ?? undefined;
}

async function collected(answer: IncomingMessage): Promise<ForgeAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBodyBytes) break; // leaving the loop destroys the stream
  }
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: Buffer.concat(chunks).toString('utf8', 0, maxBodyBytes),
  };
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'connection failed';
}
