import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { abortAfter, firstAbort } from '../../manifests/abort-after.ts';
import { type Network, type Route, routeTo } from '../net/agent.ts';
import { type ByteBudget, type ByteShare, createByteBudget } from './budget.ts';
import type { Earlier } from './earlier.ts';
import { GitError } from './error.ts';
import { answerError, connectionError } from './http-errors.ts';
import { newBase, redirectElsewhere } from './redirect.ts';
import type { GitCredentials, GitSource } from './source.ts';
import type { ServerTerms } from './terms.ts';
import { unzipped } from './unzipped.ts';

export interface GitLimits {
  /** Milliseconds for one request with all its redirects, from connecting to the last byte. */
  readonly requestMs: number;
  /** Milliseconds without a byte. */
  readonly idleMs: number;
  /** Bytes of one answer, kept or not. */
  readonly maxBytes: number;
}

const defaultLimits: GitLimits = { requestMs: 120_000, idleMs: 20_000, maxBytes: 128 * 1024 * 1024 };

interface GitRequest {
  readonly method: 'GET' | 'POST';
  /** Relative to the repository's URL: `info/refs?service=git-upload-pack`. */
  readonly resource: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** The only content type that is an answer; everything else is a web page or a proxy. */
  readonly expect: string;
  /** Bytes of this answer, if fewer than of others. */
  readonly maxBytes?: number;
  /** Told of each part as it arrives. What it throws ends the request. */
  readonly onData: (chunk: Buffer) => void;
}

/** A source with an open connection to its server. Close it when done, else the process stays for its idle sockets. */
export interface GitConnection extends Disposable {
  readonly source: GitSource;
  /** Requests sent so far, redirects included. */
  requests(): number;
  /** @throws GitError */
  send(request: GitRequest, signal: AbortSignal): Promise<void>;
  /** What this repository's data are counted in. */
  readonly share: ByteShare;
  /** Where requests go: the source's url, until `info/refs` is redirected. */
  readonly base: string;
  /** What the server said it can do; absent: not asked yet. */
  terms?: ServerTerms | undefined;
  /** What was fetched of this repository before, by whatever connection with the same credentials. */
  earlier?: Earlier | undefined;
  /** The same, and what was fetched by this one; absent: nothing that is worth keeping. */
  fetched?: Earlier | undefined;
  close(): void;
}

const maxRedirects = 3;

/**
 * Our own HTTP, because a Git server is a stranger: every request has a deadline, an idle time-out and a size limit,
 * trusts the source's own authority, and never takes its credentials to another host.
 * @throws GitError ProxyRefused if what names the proxy makes no sense; HostRefused, PlainHttpRefused
 */
export function connect(
  source: GitSource,
  limits: Partial<GitLimits> = {},
  network: Network | undefined = undefined,
  budget: ByteBudget = createByteBudget(),
): GitConnection {
  const bounds = { ...defaultLimits, ...limits };
  const { agent, end } = routeOf(source, network);
  const share = budget.join(source.url);
  let requests = 0;
  let base = source.url.replace(/\/+$/, '');

  async function send(request: GitRequest, signal: AbortSignal): Promise<void> {
    const deadline = abortAfter(bounds.requestMs);
    const either = firstAbort(signal, deadline, share.signal);
    let idle = false;
    let url = new URL(`${connection.base}/${request.resource}`);
    either.addEventListener('abort', end, { once: true });
    try {
      for (let redirects = 0; ; redirects++) {
        requests++;
        const answer = await once(url, request, either, () => {
          idle = true;
        });
        const location = redirectTarget(answer, url);
        if (!location) {
          if (redirects > 0 && answer.statusCode === 200) moveTo(newBase(url, request.resource));
          return await receive(answer, request, source, Math.min(bounds.maxBytes, request.maxBytes ?? Infinity));
        }
        answer.destroy();
        if (redirects === maxRedirects) {
          throw new GitError('RedirectRefused', `${source.url} redirects more than ${maxRedirects} times`);
        }
        url = followed(url, location, source, request.resource);
      }
    } catch (error) {
      if (error instanceof GitError) throw error;
      if (share.signal.aborted) throw share.signal.reason;
      if (signal.aborted)
        throw new GitError('Aborted', `gave up asking ${source.url}: the invocation's time is used up`);
      if (deadline.aborted) {
        throw new GitError('Timeout', `${source.url} did not finish its answer within ${bounds.requestMs / 1000} s`);
      }
      if (idle) throw new GitError('Timeout', `${source.url} sent nothing for ${bounds.idleMs / 1000} s`);
      throw connectionError(source.url, error);
    } finally {
      either.removeEventListener('abort', end);
    }
  }

  function once(
    url: URL,
    { method, headers, body, expect }: GitRequest,
    signal: AbortSignal,
    onIdle: () => void,
  ): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      agent,
      method,
      signal,
      timeout: bounds.idleMs,
      headers: {
        accept: expect,
        'accept-encoding': 'identity',
        'user-agent': 'git/etcd-ratchet',
        ...authorization(source.credentials),
        ...(body ? { 'content-length': body.length } : {}),
        ...headers,
      },
    });
    sent.on('timeout', () => {
      onIdle(); // first: destroying shows up as a connection error, also in the middle of a body
      sent.destroy();
    });
    sent.on('error', reject);
    sent.on('response', resolve);
    sent.end(body);
    return promise;
  }

  function close(): void {
    share[Symbol.dispose]();
    end();
  }

  /** What comes next goes there at once. */
  function moveTo(next: string | undefined): void {
    if (next === undefined) return;
    base = next;
    if (connection.terms) connection.terms = { ...connection.terms, base };
  }

  const connection: GitConnection = {
    source,
    get base() {
      return connection.terms?.base ?? base;
    },
    requests: () => requests,
    send,
    share,
    close,
    [Symbol.dispose]: close,
  };
  return connection;
}

function routeOf({ url, credentials }: GitSource, network: Network | undefined): Route {
  const { caBundle, password, token } = credentials ?? {};
  const withSecret = (token ?? password) !== undefined;
  try {
    return routeTo(new URL(url), { caBundle, network, withSecret, keepAlive: true });
  } catch (error) {
    throw connectionError(url, error);
  }
}

function authorization(credentials: GitCredentials | undefined): Record<string, string> {
  const { username, password, token, tokenAs } = credentials ?? {};
  const secret = token ?? password;
  if (secret === undefined) return {};
  if (tokenAs === 'Bearer') return { authorization: `Bearer ${secret}` };
  // Most forges ignore the user name beside a token, and insist on there being one; this is the one GitHub documents.
  const user = username ?? tokenAs?.user ?? 'x-access-token';
  return { authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}` };
}

function redirectTarget({ statusCode, headers }: IncomingMessage, base: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode ?? 0)) return undefined;
  const { location } = headers;
  return location === undefined ? undefined : (URL.parse(location, base.href) ?? undefined);
}

/** A renamed repository redirects within its host; anything else could be after the credentials. */
function followed(from: URL, to: URL, source: GitSource, resource: string): URL {
  if (to.origin !== from.origin) throw redirectElsewhere(source, to, resource);
  to.username = '';
  to.password = '';
  return to;
}

async function receive(
  answer: IncomingMessage,
  { expect, onData }: GitRequest,
  source: GitSource,
  maxBytes: number,
): Promise<void> {
  const type = answer.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? 'none';
  if (answer.statusCode !== 200 || type !== expect) {
    answer.destroy();
    throw answerError(source, answer.statusCode ?? 0, answer.headers, type);
  }
  try {
    const zipped = bounded(answer, maxBytes, source);
    for await (const chunk of bounded(unzipped(zipped), maxBytes, source)) onData(chunk);
  } finally {
    answer.destroy();
  }
}

async function* bounded(chunks: AsyncIterable<Buffer>, maxBytes: number, { url }: GitSource): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes)
      throw new GitError('TooLarge', `${url} sent more than ${maxBytes} bytes: keep the specs in a smaller repository`);
    yield chunk;
  }
}
