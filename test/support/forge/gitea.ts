import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../../reconcile/backup/agent/free-port.ts';
import { gitea } from '../cluster/binaries/catalogue.ts';
import type { GiteaBinary } from '../cluster/tools.ts';
import { allowThisMachine } from '../network.ts';
import { askAt, clientOf } from './client.ts';
import { writePages } from './gitea-pages.ts';
import type { ForgeAddress, PeoplesForge } from './peoples-forge.ts';

const run = promisify(execFile);

/** A Gitea of its own in a directory of its own, which goes with it. */
export async function startGitea(binary: GiteaBinary, { host, port }: ForgeAddress): Promise<PeoplesForge> {
  allowThisMachine();
  const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-gitea-'));
  await using parts = new AsyncDisposableStack();
  parts.defer(() => rm(directory, { recursive: true, force: true }));
  const url = `http://${host}:${port === 0 ? await freePort(host) : port}`;
  const command = await furnish(directory, binary, url);
  await command('migrate');
  parts.use(await serve(directory, binary));
  const { token, password } = await makeAda(command);
  const apiUrl = `${url}/api/v1`;
  await answers(`${apiUrl}/version`);
  const ask = askAt(apiUrl, `token ${token}`);
  await ask('POST', '/orgs', { username: 'platform', visibility: 'private' });
  await ask('POST', '/orgs/platform/repos', { name: 'etcd', private: true, default_branch: 'main' });

  const started = parts.move();
  return {
    title: `Gitea ${gitea.version}`,
    gitUrl: `${url}/platform/etcd.git`,
    apiUrl,
    token,
    password,
    ...clientOf(ask),
    async hook(target, secret) {
      const config = { url: target, content_type: 'json', secret };
      await ask('POST', '/repos/platform/etcd/hooks', { type: 'gitea', active: true, events: ['push'], config });
    },
    // It tells of each push by itself.
    announce: async () => {},
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** With a password and a token that Gitea makes up: none stands in a list of processes. */
async function makeAda(command: Command): Promise<{ readonly token: string; readonly password: string }> {
  const person = ['--username', 'ada', '--email', 'ada@example.com', '--admin', '--must-change-password=false'];
  const scopes = 'write:repository,write:issue,write:organization,read:user';
  const access = ['--random-password', '--access-token', '--access-token-name', 'ada', '--access-token-scopes', scopes];
  const printed = await command('admin', 'user', 'create', ...person, ...access);
  const token = /\b[0-9a-f]{40}\b/.exec(printed)?.[0];
  const password = /random password is '(.+)'/.exec(printed)?.[1];
  if (token === undefined || password === undefined)
    throw new Error('Gitea printed no access token, or no password, for the user that it made');
  return { token, password };
}

/** What it prints. */
type Command = (...args: readonly string[]) => Promise<string>;

async function furnish(directory: string, { path, staticRoot }: GiteaBinary, url: string): Promise<Command> {
  const { port } = new URL(url);
  const settings = {
    '': { RUN_MODE: 'prod', RUN_USER: userInfo().username, WORK_PATH: directory },
    server: {
      ROOT_URL: `${url}/`,
      HTTP_ADDR: '0.0.0.0',
      HTTP_PORT: port,
      DISABLE_SSH: true,
      LFS_START_SERVER: false,
      OFFLINE_MODE: true,
      ...(staticRoot && { STATIC_ROOT_PATH: staticRoot }),
    },
    database: { DB_TYPE: 'sqlite3', PATH: join(directory, 'gitea.db') },
    repository: { DEFAULT_BRANCH: 'main' },
    security: { INSTALL_LOCK: true, SECRET_KEY: secret(), INTERNAL_TOKEN: secret() },
    oauth2: { ENABLED: false },
    service: { DISABLE_REGISTRATION: true },
    webhook: { ALLOWED_HOST_LIST: '*' },
    actions: { ENABLED: false },
    packages: { ENABLED: false },
    mailer: { ENABLED: false },
    indexer: { ISSUE_INDEXER_TYPE: 'db' },
    log: { MODE: 'console', LEVEL: 'Warn' },
  };
  await mkdir(join(directory, 'home'));
  if (staticRoot) await writePages(staticRoot, join(directory, 'custom'));
  await writeFile(configurationOf(directory), ini(settings), { mode: 0o600 });
  return async (...args) => {
    const all = ['--config', configurationOf(directory), '--work-path', directory];
    return (await run(path, [...args, ...all], { env: environmentOf(directory), timeout: 60_000 })).stdout;
  };
}

function secret(): string {
  return randomBytes(32).toString('hex');
}

function ini(sections: Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>): string {
  return Object.entries(sections)
    .map(([name, entries]) => {
      const lines = Object.entries(entries).map(([key, value]) => `${key} = ${value}\n`);
      return `${name === '' ? '' : `[${name}]\n`}${lines.join('')}`;
    })
    .join('\n');
}

function configurationOf(directory: string): string {
  return join(directory, 'app.ini');
}

/** Nothing of the person who runs the tests. In a sandbox everybody is root, which Gitea else refuses. */
function environmentOf(directory: string): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return { PATH, HOME: join(directory, 'home'), GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true' };
}

async function serve(directory: string, { path }: GiteaBinary): Promise<AsyncDisposable> {
  const args = ['web', '--config', configurationOf(directory), '--work-path', directory];
  const child = spawn(path, args, { env: environmentOf(directory), stdio: ['ignore', 'pipe', 'pipe'] });
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-4_000);
    });
  }
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  let stopping = false;
  ended.then(() => {
    if (!stopping) console.error(`Gitea ended by itself:\n${tail}`);
  });
  return {
    async [Symbol.asyncDispose]() {
      stopping = true;
      child.kill('SIGTERM');
      const patience = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(patience);
    },
  };
}

/** @throws when it does not within a minute. */
async function answers(url: string): Promise<void> {
  const deadline = AbortSignal.timeout(60_000);
  for (;;) {
    const ok = await fetch(url, { signal: deadline }).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    if (deadline.aborted) throw new Error(`Gitea does not answer at ${url} within a minute`);
    await pause(100);
  }
}
