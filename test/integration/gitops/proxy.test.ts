import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ForgeAccess, ForgeKind } from '../../../gitops/forges/forge.ts';
import { openForge } from '../../../gitops/forges/forges.ts';
import { fetchTree } from '../../../gitops/git/fetch.ts';
import { connect } from '../../../gitops/git/http.ts';
import { resolveRef } from '../../../gitops/git/resolve.ts';
import { selfSigned } from '../../support/git/certificate.ts';
import { startProxy } from '../../support/git/proxy.ts';
import { replyJson, startRecorder } from '../../support/git/recorder.ts';
import { startGitServer } from '../../support/git/server.ts';
import { localNetworkWith } from '../../support/network.ts';
import { inTime, source } from './scene.ts';

/** Nobody listens there: only the proxy knows what is meant. */
const nowhere = 'https://127.0.0.1:1';
const token = 'hunter2-hunter2';
const status = { sha: 'ab'.repeat(20), context: 'etcd-ratchet/a', state: 'success', description: 'd' } as const;

function forge(change: Pick<ForgeAccess, 'network' | 'caBundle'>, server = nowhere): ReturnType<ForgeKind['open']> {
  return openForge('Gitea', { gitUrl: `${server}/o/r.git`, credentials: { kind: 'token', token }, ...change });
}

test('Git over HTTPS goes through the proxy, which sees neither credentials nor content', async () => {
  const tls = selfSigned();
  await using server = await startGitServer({ tls, auth: { token }, needs: ['asFewRequests'] });
  const repository = await server.createRepository('r');
  const sha = await repository.commit({ a: 'a' });
  await using proxy = await startProxy({ leadsTo: server.url, auth: 'user:pass' });
  const from = source(`${nowhere}/r.git`, { credentials: { token, caBundle: tls.cert } });
  using git = connect(from, {}, localNetworkWith({ HTTPS_PROXY: proxy.url }));
  const revision = await resolveRef(git, inTime());
  const tree = await fetchTree(git, revision, inTime());
  assert.equal(revision.sha, sha);
  assert.deepEqual(
    (await tree.folder(tree.root)).map(({ name }) => name),
    ['a'],
  );
  assert.deepEqual(proxy.asked, ['CONNECT 127.0.0.1:1'], 'one tunnel is kept for both requests');
  const overheard = proxy.overheard();
  assert.ok(overheard.length > 0);
  for (const word of [token, 'Basic', 'git-upload-pack']) assert.ok(!overheard.includes(word), word);
});

test('a forge over HTTPS is reached through the proxy', async () => {
  const tls = selfSigned();
  await using server = await startRecorder((_, response) => replyJson(response, {}, 201), tls);
  await using proxy = await startProxy({ leadsTo: server.url });
  await forge({ caBundle: tls.cert, network: localNetworkWith({ https_proxy: proxy.url }) }).post(status, {
    signal: inTime(),
  });
  assert.deepEqual(proxy.asked, ['CONNECT 127.0.0.1:1']);
  assert.equal(server.requests.length, 1);
  assert.ok(!proxy.overheard().includes(token));
});

test('Git and forges over plain HTTP go through HTTP_PROXY', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  const sha = await repository.commit({ a: 'a' });
  await using proxy = await startProxy({ leadsTo: server.url, auth: 'user:pass' });
  using git = connect(
    source('http://git.invalid/r.git'),
    {},
    localNetworkWith({ HTTP_PROXY: proxy.url, HTTPS_PROXY: 'http://127.0.0.1:1' }),
  );
  assert.equal((await resolveRef(git, inTime())).sha, sha);
  assert.deepEqual(proxy.asked, ['GET http://git.invalid/r.git/info/refs?service=git-upload-pack']);
});

test('what NO_PROXY lists is asked directly', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  const sha = await repository.commit({ a: 'a' });
  await using recorder = await startRecorder((_, response) => replyJson(response, {}, 201));
  await using proxy = await startProxy();
  const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: 'internal.example.com, 127.0.0.1' };
  using git = connect(source(repository.url), {}, localNetworkWith(env));
  assert.equal((await resolveRef(git, inTime())).sha, sha);
  await forge({ network: localNetworkWith(env) }, recorder.url).post(status, { signal: inTime() });
  assert.deepEqual(proxy.asked, []);
});

test('an address without a scheme is a proxy too, as it is for curl and git', async () => {
  await using server = await startRecorder((_, response) => replyJson(response, {}, 201));
  await using proxy = await startProxy({ leadsTo: server.url });
  const address = proxy.url.replace('http://', '');
  await forge(
    { network: localNetworkWith({ http_proxy: address, RATCHET_PLAIN_HTTP_HOSTS: 'forge.invalid' }) },
    'http://forge.invalid',
  ).post(status, { signal: inTime() });
  assert.equal(proxy.asked.length, 1);
});

for (const [name, refuses, env, words] of [
  ['wants other credentials', undefined, {}, /rejects our credentials \(HTTP 407\)/],
  ['does not let us through', 'HTTP/1.1 403 Forbidden\r\n\r\n', {}, /does not let us through \(HTTP 403\).*NO_PROXY/],
  ['speaks SOCKS', undefined, { HTTPS_PROXY: 'socks5://user:hunter2@127.0.0.1:1' }, /HTTPS_PROXY is not the URL of an/],
  ['makes no sense', undefined, { HTTPS_PROXY: 'http://user:hunter2@' }, /HTTPS_PROXY is not the URL of an HTTP proxy/],
] as const) {
  test(`a proxy that ${name} is told as such, without its password`, async () => {
    await using proxy = await startProxy(refuses ? { refuses } : { auth: 'user:right' });
    const password = refuses ? 'user:x' : 'user:hunter2';
    const proxyEnv = { HTTPS_PROXY: proxy.url.replace('user:right', password), ...env };
    const told = (error: Error) => {
      assert.match(error.message, words);
      assert.doesNotMatch(error.message, /hunter2/);
      return 'reason' in error && error.reason === 'ProxyRefused';
    };
    await assert.rejects(async () => {
      using git = connect(source(`${nowhere}/r.git`), {}, localNetworkWith(proxyEnv));
      await resolveRef(git, inTime());
    }, told);
    await assert.rejects(forge({ network: localNetworkWith(proxyEnv) }).post(status, { signal: inTime() }), told);
  });
}

test('a proxy without a listener is named as unreachable', async () => {
  const gone = await startProxy();
  await gone[Symbol.asyncDispose]();
  const env = { HTTPS_PROXY: gone.url };
  using git = connect(source(`${nowhere}/r.git`), {}, localNetworkWith(env));
  await assert.rejects(resolveRef(git, inTime()), { reason: 'Unreachable', message: /ECONNREFUSED/ });
  await assert.rejects(forge({ network: localNetworkWith(env) }).post(status, { signal: inTime() }), {
    reason: 'ForgeUnreachable',
  });
});

test('a proxy that says nothing costs no more than the time there is', async () => {
  await using proxy = await startProxy({ silent: true });
  const env = { HTTPS_PROXY: proxy.url };
  using git = connect(source(`${nowhere}/r.git`), {}, localNetworkWith(env));
  const started = performance.now();
  await assert.rejects(resolveRef(git, inTime(500)), { reason: 'Aborted' });
  await assert.rejects(forge({ network: localNetworkWith(env) }).post(status, { signal: inTime(500) }), {
    reason: 'Timeout',
  });
  assert.equal(proxy.asked.length, 2);
  assert.ok(performance.now() - started < 5000);
});

test('a certificate is checked through a tunnel as without', async () => {
  await using server = await startRecorder(undefined, selfSigned());
  await using proxy = await startProxy({ leadsTo: server.url });
  const through = forge({ network: localNetworkWith({ HTTPS_PROXY: proxy.url }) });
  await assert.rejects(through.post(status, { signal: inTime() }), { reason: 'CertificateNotTrusted' });
  assert.deepEqual(server.requests, []);
});
