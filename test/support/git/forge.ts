import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { allowThisMachine } from '../network.ts';

/** How a forge can misbehave. */
export type ForgeFault =
  | { readonly kind: 'hang' }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly message?: string;
      /** Only requests of this method go wrong. */
      readonly only?: 'GET' | 'POST';
      /** Part of the address of the requests that it befalls. */
      readonly at?: string;
    }
  | { readonly kind: 'html'; readonly status?: number }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'reset' }
  /** An answer without end. */
  | { readonly kind: 'flood' };

export interface PostedStatus {
  readonly owner: string;
  readonly repository: string;
  readonly sha: string;
  readonly state: string;
  readonly context: string;
  readonly description: string;
  readonly target_url?: string;
}

/** An open request, in the form that GitHub and Gitea share. */
export interface OpenedRequest {
  readonly number: number;
  readonly title: string;
  readonly headSha: string;
  /** Default `main`. */
  readonly target?: string;
  /** `gone`: it was deleted. */
  readonly fork?: boolean | 'gone';
  /** The author's ID. Default 100. */
  readonly author?: number;
  readonly labels?: readonly string[];
}

export interface PostedComment {
  readonly id: number;
  readonly number: number;
  body: string;
}

export interface ForgeServerOptions {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Without it, any token is welcome. */
  readonly token?: string;
  /** What it can do besides, for people: it answers, or leaves the request to the others. */
  readonly desk?: Desk;
  /** It gives an App a new token each time that one is asked for, as GitHub does. */
  readonly app?: boolean;
}

/** What was asked of a forge that knows its repositories; `undefined`: not of this desk. */
export type Desk = (
  asked: { readonly method: string; readonly path: string; readonly body: string },
  forge: Pick<ForgeServer, 'pulls' | 'statuses'>,
) => Promise<object | undefined>;

/** A forge's status endpoint that records what it is told: GitHub's at `/`, Gitea's at `/api/v1`. */
export interface ForgeServer extends AsyncDisposable {
  readonly url: string;
  /** Every status it took, oldest first. */
  readonly statuses: PostedStatus[];
  /** Requests that are open, whatever repository is asked about; tests add and remove. */
  readonly pulls: OpenedRequest[];
  readonly comments: PostedComment[];
  /** GitHub's merge queue: its branches, by their names. */
  readonly queue: Map<string, string>;
  /** Every request, refused ones too. */
  readonly requests: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers'] }[];
  /** Those that count against GitHub's limit: all but of what is known to be the same. */
  readonly counted: ForgeServer['requests'];
  /** The newest status per context of a commit. */
  statusesOf(sha: string): ReadonlyMap<string, PostedStatus>;
  /** What goes wrong from now on, `times` times (default: until told otherwise). */
  breakWith(fault: ForgeFault | undefined, times?: number): void;
  stop(): Promise<void>;
}

export async function startForge(options: ForgeServerOptions = {}): Promise<ForgeServer> {
  allowThisMachine();
  const { host = '127.0.0.1', port = 0, tls, token, desk, app } = options;
  let given = 0;
  const statuses: PostedStatus[] = [];
  const requests: ForgeServer['requests'] = [];
  const counted: ForgeServer['requests'] = [];
  const pulls: OpenedRequest[] = [];
  const comments: PostedComment[] = [];
  const queue: ForgeServer['queue'] = new Map();
  let fault: ForgeFault | undefined;
  let faultsLeft = 0;

  function statusesOf(sha: string): ReadonlyMap<string, PostedStatus> {
    return new Map(statuses.filter((status) => status.sha === sha).map((status) => [status.context, status]));
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = { method: request.method ?? '', url: request.url ?? '', headers: request.headers };
    requests.push(asked);
    response.once('finish', () => {
      if (response.statusCode !== 304) counted.push(asked);
    });
    if (fault && concerns(fault, request) && faultsLeft-- > 0) {
      misbehave(fault, response);
      return;
    }
    const body = await read(request);
    const { method = '', url = '' } = request;
    if (app && method === 'POST' && url.endsWith('/access_tokens')) {
      given += 1;
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      reply(response, 201, { token: `of-the-app-${given}`, expires_at });
      return;
    }
    if (desk && isWelcome(request, token)) {
      const path = new URL(url, 'http://forge').pathname.replace(/^\/api\/v[13]/, '');
      const served = await desk({ method, path, body }, { pulls, statuses });
      if (served) {
        reply(response, 200, served);
        return;
      }
    }
    const told = statusesTold(request, statusesOf) ?? pullsOrComments(request, body, { pulls, comments, queue });
    if (told && isWelcome(request, token)) {
      replyUnlessKnown(request, response, told);
      return;
    }
    const refusal = refusalOf(request, body, token);
    if (refusal) {
      reply(response, refusal.status, { message: refusal.message });
      return;
    }
    const status = { ...pathOf(request.url), ...(JSON.parse(body) as object) } as PostedStatus;
    statuses.push(status);
    reply(response, 201, { id: statuses.length, state: status.state, context: status.context });
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    answer(request, response).catch((error: unknown) => {
      console.error('the test forge failed:', error);
      response.destroy();
    });
  }

  const server = tls ? createSecureServer(tls, handle) : createServer(handle);
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(port, host, listening.resolve);
  await listening.promise;

  async function stop(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    server.closeAllConnections();
    await closed.promise;
  }

  return {
    url: `${tls ? 'https' : 'http'}://${host}:${(server.address() as AddressInfo).port}`,
    statuses,
    pulls,
    comments,
    queue,
    requests,
    counted,
    statusesOf,
    breakWith: (next, times = Number.POSITIVE_INFINITY) => {
      fault = next;
      faultsLeft = times;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** As GitHub does, with an ETag that is weak, and another one for each token. */
function replyUnlessKnown({ method, headers }: IncomingMessage, response: ServerResponse, told: object): void {
  const words = JSON.stringify([told, headers.authorization]);
  const etag = `W/"${createHash('sha256').update(words).digest('hex')}"`;
  if (method !== 'GET') reply(response, 200, told);
  else if (headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
  else reply(response, 200, told, { etag });
}

/** What both forges refuse, with their codes. */
function refusalOf(
  request: IncomingMessage,
  body: string,
  token: string | undefined,
): { status: number; message: string } | undefined {
  if (!isWelcome(request, token)) return { status: 401, message: 'Bad credentials' };
  if (request.method !== 'POST' || !pathOf(request.url)) return { status: 404, message: 'Not Found' };
  const { state, context, description } = JSON.parse(body) as Partial<PostedStatus>;
  if (!['pending', 'success', 'failure', 'error'].includes(state ?? ''))
    return { status: 422, message: 'Validation Failed: state' };
  if (!context) return { status: 422, message: 'Validation Failed: context' };
  if ((description ?? '').length > 140)
    return { status: 422, message: 'Validation Failed: description is too long (maximum is 140 characters)' };
  return undefined;
}

function isWelcome(request: IncomingMessage, token: string | undefined): boolean {
  const [scheme, given] = (request.headers.authorization ?? '').split(' ');
  return ['Bearer', 'token'].includes(scheme ?? '') && !!given && (token === undefined || given === token);
}

/** The newest of each context, in the words of both. */
function statusesTold(
  { method, url = '' }: IncomingMessage,
  statusesOf: ForgeServer['statusesOf'],
): object | undefined {
  const { pathname, searchParams } = new URL(url, 'http://forge');
  const sha = /^(?:\/api\/v[13])?\/repos\/[^/]+\/[^/]+\/commits\/([0-9a-f]{40})\/status$/.exec(pathname)?.[1];
  if (method !== 'GET' || !sha) return undefined;
  const all = [...statusesOf(sha).values()].map(({ context, state }) => ({ context, state, status: state }));
  return { sha, statuses: searchParams.get('page') === '1' ? all : [] };
}

/** What both tell of requests and comments, as far as we read it; they differ in more than this. */
function pullsOrComments(
  { method, url = '' }: IncomingMessage,
  body: string,
  { pulls, comments, queue }: Pick<ForgeServer, 'pulls' | 'comments' | 'queue'>,
): object | undefined {
  const { pathname, searchParams } = new URL(url, 'http://forge');
  const path = pathname.replace(/^\/api\/v[13]/, '');
  if (method === 'GET' && path === '/user') return { id: 1 };
  if (method === 'GET' && /^\/repos\/[^/]+\/[^/]+\/pulls$/.test(path)) {
    const branch = searchParams.get('base') ?? searchParams.get('base_branch');
    const size = Number(searchParams.get('per_page') ?? searchParams.get('limit'));
    const start = (Number(searchParams.get('page')) - 1) * size;
    const found = pulls.filter(({ target = 'main' }) => branch === null || target === branch);
    return found.slice(start, start + size).map(asPull);
  }
  const prefix = /^\/repos\/[^/]+\/[^/]+\/git\/matching-refs\/(.+)$/.exec(path)?.[1];
  if (method === 'GET' && prefix) {
    const refs = [...queue].map(([branch, sha]) => ({ ref: `refs/heads/${branch}`, object: { sha, type: 'commit' } }));
    return refs.filter(({ ref }) => ref.startsWith(`refs/${prefix}`));
  }
  const thread = /^\/repos\/[^/]+\/[^/]+\/issues\/(\d+)\/comments$/.exec(path)?.[1];
  if (method === 'GET' && thread) {
    return comments.filter(({ number }) => number === Number(thread)).map((one) => ({ ...one, user: { id: 1 } }));
  }
  if (method === 'POST' && thread) {
    const comment = { id: comments.length + 1, number: Number(thread), ...(JSON.parse(body) as { body: string }) };
    comments.push(comment);
    return comment;
  }
  const known = /^\/repos\/[^/]+\/[^/]+\/issues\/comments\/(\d+)$/.exec(path)?.[1];
  const found = comments.find(({ id }) => id === Number(known));
  return method === 'PATCH' && found ? Object.assign(found, JSON.parse(body) as object) : undefined;
}

function asPull(opened: OpenedRequest): object {
  const { number, title, headSha, target = 'main', fork = false, author = 100, labels = [] } = opened;
  const repository = { id: fork ? 2 : 1 };
  return {
    number,
    title,
    html_url: `https://forge.example.com/pulls/${number}`,
    draft: false,
    user: { id: author },
    labels: labels.map((name) => ({ name })),
    head: { sha: headSha, repo: fork === 'gone' ? null : repository, repo_id: fork === 'gone' ? -1 : repository.id },
    base: { ref: target, repo: { id: 1 }, repo_id: 1 },
  };
}

function pathOf(url = ''): Pick<PostedStatus, 'owner' | 'repository' | 'sha'> | undefined {
  const match =
    /^(?:\/api\/v[13])?\/repos\/(?<owner>[^/]+)\/(?<repository>[^/]+)\/statuses\/(?<sha>[0-9a-f]{40})$/.exec(url);
  const { owner, repository, sha } = match?.groups ?? {};
  return owner && repository && sha
    ? { owner: decodeURIComponent(owner), repository: decodeURIComponent(repository), sha }
    : undefined;
}

function concerns(fault: ForgeFault, { method, url = '' }: IncomingMessage): boolean {
  if (fault.kind !== 'status') return true;
  return (fault.only === undefined || fault.only === method) && url.includes(fault.at ?? '');
}

function misbehave(fault: ForgeFault, response: ServerResponse): void {
  switch (fault.kind) {
    case 'hang':
      return;
    case 'status':
      reply(response, fault.status, { message: fault.message ?? 'no' }, fault.headers);
      return;
    case 'html':
      response.writeHead(fault.status ?? 200, { 'content-type': 'text/html' }).end('<html><body>Sign in</body></html>');
      return;
    case 'redirect':
      response.writeHead(307, { location: fault.to }).end();
      return;
    case 'reset':
      response.destroy();
      return;
    case 'flood':
      response.writeHead(500, { 'content-type': 'application/json' });
      flood(response);
      return;
    default:
      fault satisfies never;
  }
}

function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, ' ');
  while (!response.destroyed && response.write(chunk));
  response.once('drain', () => flood(response));
}

function reply(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
