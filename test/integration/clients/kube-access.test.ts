/** What a kubeconfig can say, and what is wrong with it, against a server that shows what arrives. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { connectKube } from '../../../reconcile/clients/kube.ts';
import { findAccess } from '../../../reconcile/clients/kube-access.ts';
import { isReason, type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { startStopwatch } from '../../support/awake.ts';
import { type FaultServer, json, startFaultServer } from './fault-server.ts';

const page = json(200, { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items: [] });
const directory = await mkdtemp(join(tmpdir(), 'ratchet-access-'));
after(() => rm(directory, { recursive: true, force: true }));
let files = 0;

test('a token, and a server URL with a path', async () => {
  await using server = await startFaultServer(page);
  const headers = recorded(server);
  await list(await kubeconfig(server, { user: { token: 'my-token' }, prefix: '/k8s/clusters/c-1/' }));
  assert.equal(headers()?.authorization, 'Bearer my-token');
  assert.equal(headers()?.['user-agent'], 'test/0');
  assert.match(server.requests[0] ?? '', /^GET \/k8s\/clusters\/c-1\/api\/v1\/pods\?/);
});

test('a user name and password', async () => {
  await using server = await startFaultServer(page);
  const headers = recorded(server);
  await list(await kubeconfig(server, { user: { username: 'me', password: 'secret' } }));
  assert.equal(headers()?.authorization, `Basic ${Buffer.from('me:secret').toString('base64')}`);
});

test('an impersonated user of the kubeconfig gives way to the one that is asked for', async () => {
  await using server = await startFaultServer(page);
  const headers = recorded(server);
  const kube = await open(await kubeconfig(server, { user: { token: 't', as: 'somebody' } }));
  await kube.list(resources.pods, {});
  assert.equal(headers()?.['impersonate-user'], 'somebody');
  await kube.as({ namespace: 'team', name: 'fleet' }).list(resources.pods, {});
  assert.equal(headers()?.['impersonate-user'], 'system:serviceaccount:team:fleet');
  kube.close();
});

test('a plugin that gives a token', async () => {
  await using server = await startFaultServer(page);
  const headers = recorded(server);
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'from-plugin' },
  };
  await list(await kubeconfig(server, { user: { exec: await plugin(`echo '${JSON.stringify(credential)}'`) } }));
  assert.equal(headers()?.authorization, 'Bearer from-plugin');
});

test('a plugin that fails is a thing for a person', async () => {
  await using server = await startFaultServer(page);
  const listing = list(await kubeconfig(server, { user: { exec: await plugin('echo cannot log in >&2; exit 1') } }));
  await rejects(listing, 'NoCredentials', /cannot log in/);
});

test('a plugin that hangs costs no more than a request may', async () => {
  await using server = await startFaultServer(page);
  const kube = await open(await kubeconfig(server, { user: { exec: await plugin('exec sleep 1') } }), 300);
  using watched = startStopwatch();
  await assert.rejects(kube.list(resources.pods, {}), (error) => isReason(error, 'Timeout'));
  assert.ok(watched.milliseconds() < 2_000);
  kube.close();
});

test('a proxy', async () => {
  await using server = await startFaultServer(page);
  const sockets = new Set<Socket>();
  const seen: string[] = [];
  const proxy = createServer().on('connect', (request, client: Socket) => {
    seen.push(request.url ?? '');
    const upstream = connect(server.port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => socket.destroy()));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const kube = await open(await kubeconfig(server, { user: { token: 't' }, cluster: { 'proxy-url': url } }));
    await kube.list(resources.pods, {});
    assert.deepEqual(seen, [`127.0.0.1:${server.port}`]);
    kube.close();
  } finally {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  }
});

test('a proxy that the environment names is for Git and forges, not for the API server', async (t) => {
  await using server = await startFaultServer(page);
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
  });
  const nowhere = 'http://127.0.0.1:1';
  process.env = { ...before, HTTPS_PROXY: nowhere, https_proxy: nowhere, HTTP_PROXY: nowhere, http_proxy: nowhere };
  await list(await kubeconfig(server, { user: { token: 't' } }));
  assert.equal(server.requests.length, 1);
});

test('a server that is not verified, when the kubeconfig says so', async () => {
  await using server = await startFaultServer(page);
  const cluster = { 'certificate-authority': undefined, 'insecure-skip-tls-verify': true };
  await list(await kubeconfig(server, { user: {}, cluster }));
  await rejects(
    list(await kubeconfig(server, { user: {}, cluster: { 'certificate-authority': undefined } })),
    'Unreachable',
    /trusted/,
  );
});

for (const [what, content, words] of [
  ['is not YAML', 'users:\n- user: {token: "hidden-token\n', /line \d/],
  ['is empty', '', /cannot be read/],
  ['is a list', '[]', /server URL|cannot be read/],
  ['has no such context', JSON.stringify({ clusters: [], users: [], contexts: [], 'current-context': 'gone' }), /gone/],
  ['has no URL', JSON.stringify(configOf({ server: 'not a url' }, {})), /server URL/],
] as const) {
  test(`a kubeconfig that ${what} is named, and nothing of it is quoted`, async () => {
    const file = await write(content);
    await rejects(open(file), 'NoCredentials', words);
    await assert.rejects(
      open(file),
      (error: Error) => error.message.includes(file) && !/hidden-token/.test(`${error.stack} ${error.cause}`),
    );
  });
}

test('a context that a kubeconfig does not have is named with those that it has', async () => {
  const file = await write(JSON.stringify(configOf({ server: 'https://127.0.0.1:1' }, {})));
  await rejects(findAccess(file, {}, 'nope'), 'NoCredentials', /has no context nope; there are: x$/);
});

test('a kubeconfig that is not there is named', async () => {
  await rejects(open('/nowhere/kubeconfig'), 'NoCredentials', /\/nowhere\/kubeconfig cannot be read \(ENOENT\)/);
});

test('where nothing is configured, it says what to set', async () => {
  const home = process.env.HOME;
  process.env.HOME = directory;
  try {
    await rejects(findAccess(undefined, {}), 'NoCredentials', /KUBECONFIG/);
  } finally {
    process.env.HOME = home;
  }
});

interface Said {
  readonly user: Record<string, unknown>;
  readonly cluster?: Record<string, unknown>;
  readonly prefix?: string;
}

function kubeconfig(server: FaultServer, { user, cluster = {}, prefix = '' }: Said): Promise<string> {
  const url = `https://127.0.0.1:${server.port}${prefix}`;
  return write(
    JSON.stringify(
      configOf({ server: url, 'certificate-authority': join(server.directory, 'ca.crt'), ...cluster }, user),
    ),
  );
}

function configOf(cluster: Record<string, unknown>, user: Record<string, unknown>): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
}

async function write(content: string): Promise<string> {
  files += 1;
  const file = join(directory, `${files}.yaml`);
  await writeFile(file, content);
  return file;
}

async function plugin(script: string): Promise<unknown> {
  const command = await write(`#!/bin/sh\n${script}\n`);
  await chmod(command, 0o700);
  return { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never' };
}

function open(file: string, requestTimeoutMs = 2_000): Promise<Kube> {
  return connectKube({ userAgent: 'test/0', kubeconfig: file, requestTimeoutMs });
}

async function list(file: string): Promise<void> {
  const kube = await open(file);
  try {
    await kube.list(resources.pods, {});
  } finally {
    kube.close();
  }
}

/** The headers of the last request. */
function recorded(server: FaultServer): () => NodeJS.Dict<string | string[]> | undefined {
  let headers: NodeJS.Dict<string | string[]> | undefined;
  server.answer((request, response) => {
    headers = request.headers;
    page(request, response);
  });
  return () => headers;
}

async function rejects(promise: Promise<unknown>, reason: string, words: RegExp): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof KubeError, String(error));
    assert.equal(error.reason, reason, error.message);
    assert.equal(error.class, 'terminal');
    assert.match(error.message, words);
    return true;
  });
}
