import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allowThisMachine } from '../network.ts';
import { behave } from './behave.ts';
import { type GitFault, misbehave } from './faults.ts';
import { isLedOn, toldPath } from './leading.ts';
import { chosenGitServer, type PersonalityName, traitsOf } from './personalities.ts';
import { createRepository, type Repository } from './repository.ts';
import { type Capability, can, type Traits } from './traits.ts';

export interface GitServerOptions {
  /** Default 127.0.0.1 and a free port. */
  readonly host?: string;
  readonly port?: number;
  /** The server that a test is about; absent: the one that the run chose, by default git's own. */
  readonly personality?: PersonalityName;
  /** What a test needs that not every server can do: where the chosen one can't, git's own serves. */
  readonly needs?: readonly Capability[];
  /** Instead of all that: these traits. */
  readonly traits?: Traits;
  /** PEM; makes it an HTTPS server. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Basic authentication; any user name if only a token is given. */
  readonly auth?: { readonly username: string; readonly password: string } | { readonly token: string };
}

export interface RecordedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/** A real Git server: system git's http-backend behind Node's HTTP server, and switches that make it misbehave. */
export interface GitServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Every request so far, but for those that it led on. */
  readonly requests: RecordedRequest[];
  /** What it does otherwise than git's own. */
  readonly traits: Traits;
  /** Creates `<url>/<name>.git`, and tells the address that people gave the fleet: a server may lead on from there. */
  createRepository(name: string): Promise<Repository & { readonly url: string }>;
  /** What goes wrong with every request from now on; `undefined` for nothing. */
  breakWith(fault: GitFault | undefined): void;
  stop(): Promise<void>;
}

export async function startGitServer(options: GitServerOptions = {}): Promise<GitServer> {
  allowThisMachine();
  const { host = '127.0.0.1', port = 0, tls, auth } = options;
  const traits = traitsFor(options);
  const root = await mkdtemp(join(tmpdir(), 'etcd-ratchet-git-'));
  const requests: RecordedRequest[] = [];
  let fault: GitFault | undefined;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const isAdmitted = admitted(request, auth, traits);
    if (!isAdmitted || fault || !isLedOn(traits, path)) requests.push({ method, url: path, headers });
    if (!isAdmitted) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('Unauthorized\n');
    } else if (!fault || !(await misbehave(fault, root, request, response))) {
      await behave(traits, root, request, response);
    }
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    answer(request, response).catch((error: unknown) => {
      console.error('the test Git server failed:', error);
      response.destroy();
    });
  }

  const server = tls ? createSecureServer(tls, handle) : createServer(handle);
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(port, host, listening.resolve);
  await listening.promise;
  const url = `${tls ? 'https' : 'http'}://${host}:${(server.address() as AddressInfo).port}`;

  async function stop(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    server.closeAllConnections();
    await closed.promise;
    await rm(root, { recursive: true, force: true });
  }

  return {
    url,
    requests,
    traits,
    createRepository: async (name) => {
      const repository = await createRepository(join(root, `${name}.git`));
      for (const [key, value] of Object.entries(traits.config ?? {})) await repository.git('config', key, value);
      return { ...repository, url: `${url}${toldPath(traits, `/${name}.git`)}` };
    },
    breakWith: (next) => {
      fault = next;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** What a test is about, or needs, counts before what the run chose. */
function traitsFor({ traits, personality, needs = [], auth }: GitServerOptions): Traits {
  if (traits) return traits;
  if (personality) return traitsOf(personality);
  const chosen = traitsOf(chosenGitServer(process.env));
  const all = auth ? [...needs, 'anyUser' as const] : needs;
  return all.every((capability) => can(chosen, capability)) ? chosen : traitsOf('git');
}

function admitted(request: IncomingMessage, auth: GitServerOptions['auth'], { takesTokens }: Traits): boolean {
  if (!auth) return true;
  const [scheme, value = ''] = (request.headers.authorization ?? '').split(' ');
  if (takesTokens === 'Bearer' && 'token' in auth) return scheme === 'Bearer' && value === auth.token;
  if (scheme !== 'Basic') return false;
  const [user, ...rest] = Buffer.from(value, 'base64').toString().split(':');
  const password = rest.join(':');
  return 'token' in auth
    ? password === auth.token && (takesTokens === undefined ? user !== '' : user === takesTokens)
    : user === auth.username && password === auth.password;
}
