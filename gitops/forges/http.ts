import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { abortAfter, firstAbort } from '../../manifests/abort-after.ts';
import { routeTo, type Way } from '../net/agent.ts';
import { codeOf, connectionProblem } from '../net/connection-codes.ts';
import { ForgeError } from './error.ts';

export interface ForgeRequest extends Pick<Way, 'caBundle' | 'network'> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface ForgeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** There was more than we read. */
  readonly cut: boolean;
}

/** Milliseconds for one request. Forges answer within a second; ten times that is a forge in trouble. */
const requestMs = 10_000;
/** Fifty pull requests, each with all that GitHub tells of two repositories and a description of the longest kind. */
const maxBodyBytes = 8 * 1024 * 1024;
const maxRedirects = 2;

/**
 * Sends one request, bounded in time and size. It follows redirects only within the host (a renamed repository),
 * because the credentials go along. @throws ForgeError Timeout, ForgeUnreachable, CertificateNotTrusted, ProxyRefused,
 * RedirectRefused, HostRefused, PlainHttpRefused
 */
export async function send(request: ForgeRequest, signal: AbortSignal): Promise<ForgeAnswer> {
  const deadline = abortAfter(requestMs);
  let url = new URL(request.url);
  try {
    for (let redirects = 0; ; redirects++) {
      const found = await once(url, request, firstAbort(signal, deadline));
      if ('status' in found) return found;
      if (found.location.origin !== url.origin || redirects === maxRedirects) {
        throw new ForgeError(
          'RedirectRefused',
          `${url.origin} redirects to another host or port, and the credentials must not follow: correct forge.apiURL`,
        );
      }
      url = found.location;
    }
  } catch (cause) {
    if (cause instanceof ForgeError) throw cause;
    if (signal.aborted) throw new ForgeError('Timeout', `there was no time left to wait for ${url.origin}`, { cause });
    if (deadline.aborted)
      throw new ForgeError('Timeout', `${url.origin} did not answer within ${requestMs / 1000} s`, { cause });
    throw unreachable(url.origin, cause);
  }
}

/** One request on a connection of its own, closed at once: an idle one would keep the process from ending. */
async function once(
  url: URL,
  request: ForgeRequest,
  signal: AbortSignal,
): Promise<ForgeAnswer | { readonly location: URL }> {
  // A forge is asked with its Secret only.
  const route = routeTo(url, { caBundle: request.caBundle, network: request.network, withSecret: true });
  signal.addEventListener('abort', route.end, { once: true });
  try {
    signal.throwIfAborted();
    const answer = await respond(url, request, { agent: route.agent, signal });
    const location = redirectTarget(answer, url);
    return location ? { location } : await collected(answer);
  } finally {
    signal.removeEventListener('abort', route.end);
    route.end();
  }
}

function respond(
  url: URL,
  { method, headers, body }: ForgeRequest,
  options: Pick<RequestOptions, 'agent' | 'signal'>,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    ...options,
    method,
    headers: {
      ...headers,
      ...(bytes ? { 'content-type': 'application/json', 'content-length': bytes.length } : {}),
      'user-agent': 'etcd-ratchet',
    },
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
    cut: size > maxBodyBytes,
  };
}

function unreachable(origin: string, cause: unknown): ForgeError {
  const problem = connectionProblem(origin, cause, 'forge.secretName');
  if (problem) return new ForgeError(problem.reason, problem.message, { cause });
  const code = codeOf(cause) ?? 'connection failed';
  return new ForgeError('ForgeUnreachable', `${origin} cannot be reached (${code})`, { cause });
}
