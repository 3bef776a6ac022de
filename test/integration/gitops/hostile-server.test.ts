import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GitError } from '../../../gitops/git/error.ts';
import { connect, type GitLimits } from '../../../gitops/git/http.ts';
import { resolveRef } from '../../../gitops/git/resolve.ts';
import { selfSigned } from '../../support/git/certificate.ts';
import type { GitFault } from '../../support/git/faults.ts';
import { startGitServer } from '../../support/git/server.ts';
import { localNetwork } from '../../support/network.ts';
import { fetched, resolve, rootOf, source } from './scene.ts';

const short: Partial<GitLimits> = { requestMs: 1500, idleMs: 400 };

for (const [name, fault, reason, message] of [
  ['hangs', { kind: 'hang' }, 'Timeout', /sent nothing for 0\.4 s/],
  ['stalls in the middle', { kind: 'stall' }, 'Timeout', /sent nothing for 0\.4 s/],
  ['floods', { kind: 'flood' }, 'TooLarge', /more than 1000000 bytes/],
  ['answers 401', { kind: 'status', status: 401 }, 'AuthenticationFailed', /none were given: name a Secret/],
  ['answers 403', { kind: 'status', status: 403 }, 'AuthenticationFailed', /does not let us read/],
  ['answers 404', { kind: 'status', status: 404 }, 'RepositoryNotFound', /no repository at/],
  ['answers 429', { kind: 'status', status: 429 }, 'RateLimited', /limits our requests/],
  [
    'limits by 403',
    { kind: 'status', status: 403, headers: { 'retry-after': '9' } },
    'RateLimited',
    /limits our requests/,
  ],
  ['answers 500', { kind: 'status', status: 500 }, 'ServerFailing', /HTTP 500/],
  ['answers 503', { kind: 'status', status: 503 }, 'ServerFailing', /HTTP 503/],
  ['answers 204', { kind: 'status', status: 204 }, 'BadAnswer', /HTTP 204/],
  ['answers with a web page', { kind: 'html' }, 'BadAnswer', /a web page/],
  ['answers 203 with a web page', { kind: 'html', status: 203 }, 'BadAnswer', /a web page/],
  ['answers nonsense', { kind: 'nonsense' }, 'BadAnswer', /did not answer in the Git protocol/],
  ['redirects in circles', { kind: 'redirect', to: (url) => `${url}&again` }, 'RedirectRefused', /more than 3 times/],
] as const satisfies readonly (readonly [string, GitFault, string, RegExp])[]) {
  test(`a server that ${name} is ${reason}, within the time given`, async () => {
    await using server = await startGitServer();
    const repository = await server.createRepository('r');
    await repository.commit({ a: '1' });
    server.breakWith(fault);
    const started = performance.now();
    await assert.rejects(resolve(source(repository.url), { ...short, maxBytes: 1_000_000 }), (error) => {
      assert.ok(error instanceof GitError, String(error));
      assert.equal(error.reason, reason);
      assert.match(error.message, message);
      return true;
    });
    assert.ok(performance.now() - started < 5000);
  });
}

for (const [name, fault, reason] of [
  ['breaks off', { kind: 'cut' }, 'Unreachable'],
  ['ends early after half', { kind: 'truncate', keep: 0.5 }, 'BadAnswer'],
  ['ends early just before the end', { kind: 'truncate', keep: 0.999 }, 'BadAnswer'],
  ['has a bit flipped', { kind: 'corrupt' }, 'BadAnswer'],
] as const satisfies readonly (readonly [string, GitFault, string])[]) {
  test(`data that ${name} is ${reason}, never a smaller tree`, async () => {
    await using server = await startGitServer();
    const repository = await server.createRepository('r');
    await repository.commit(
      Object.fromEntries(Array.from({ length: 100 }, (_, file) => [`f${file}`, `content ${file}`])),
    );
    server.breakWith(fault);
    await assert.rejects(fetched(source(repository.url)), (error) => {
      assert.ok(error instanceof GitError, String(error));
      assert.equal(error.reason, reason);
      assert.equal(error.class, 'retryable');
      return true;
    });
  });
}

test('a server that is not there is Unreachable', async () => {
  const server = await startGitServer();
  const { url } = await server.createRepository('r');
  await server.stop();
  await assert.rejects(resolve(source(url)), {
    reason: 'Unreachable',
    class: 'retryable',
    message: `${url} cannot be reached (ECONNREFUSED)`,
  });
});

test('an invocation that is over stops asking', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  server.breakWith({ kind: 'hang' });
  using git = connect(source(repository.url), {}, localNetwork);
  await assert.rejects(resolveRef(git, AbortSignal.timeout(200)), { reason: 'Aborted', class: 'retryable' });
});

test('a redirect within the host is followed, as after renaming a repository, also when fetching', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('new');
  await repository.commit({ 'a.yaml': '1' });
  for (const status of [301, 302, 307, 308]) {
    server.breakWith({ kind: 'redirect', status, to: (url) => url.replace('/old.git', '/new.git') });
    assert.deepEqual(await rootOf(await fetched(source(`${server.url}/old.git`))), ['a.yaml']);
  }
});

test('credentials do not follow a redirect to another host, not even to another port', async () => {
  await using server = await startGitServer({ needs: ['direct'] });
  await using thief = await startGitServer();
  const repository = await server.createRepository('r');
  server.breakWith({ kind: 'redirect', to: (url) => `${thief.url}${url}` });
  await assert.rejects(
    resolve(source(repository.url, { credentials: { username: 'ada', password: 'hunter2' } })),
    (error) => {
      assert.ok(error instanceof GitError);
      assert.equal(error.reason, 'RedirectRefused');
      assert.match(error.message, /credentials must not follow to another host or port: if the repository has moved/);
      assert.ok(error.message.includes(`redirects to ${thief.url}/r.git, and`), error.message);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    },
  );
  assert.equal(thief.requests.length, 0);
});

test('of a redirect to what is no repository, as a login page, only the host is told', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  const to = () => 'https://ada:hunter2@login.example.com/sign-in/hunter2?session=hunter2#hunter2';
  server.breakWith({ kind: 'redirect', to });
  await assert.rejects(resolve(source(repository.url)), (error) => {
    assert.ok(error instanceof GitError && error.reason === 'RedirectRefused');
    assert.match(error.message, /another host or port \(login\.example\.com\).*check the credentials/);
    assert.doesNotMatch(error.message, /hunter2/);
    return true;
  });
});

for (const [name, auth, credentials] of [
  ['user and password', { username: 'ada', password: 'p:ä ss' }, { username: 'ada', password: 'p:ä ss' }],
  ['a token', { token: 't0ken' }, { token: 't0ken' }],
  ['a token and the user it wants', { username: 'oauth2', password: 't0ken' }, { username: 'oauth2', token: 't0ken' }],
] as const) {
  test(`${name} open a private repository; others and none do not`, async () => {
    await using server = await startGitServer({ auth });
    const repository = await server.createRepository('r');
    await repository.commit({ a: '1' });
    assert.deepEqual(await rootOf(await fetched(source(repository.url, { credentials }))), ['a']);
    const requests = server.requests.length;
    await assert.rejects(resolve(source(repository.url)), {
      reason: 'AuthenticationFailed',
      message: /none were given/,
    });
    await assert.rejects(
      resolve(source(repository.url, { credentials: { username: 'eve', password: 'hunter2' } })),
      (error) => {
        assert.ok(error instanceof GitError && error.reason === 'AuthenticationFailed');
        assert.match(error.message, /check the Secret/);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
    assert.equal(server.requests.length, requests + 2, 'wrong credentials are tried once');
  });
}

test('a certificate of one’s own authority is trusted when the Secret brings it, and only then', async () => {
  const tls = selfSigned();
  await using server = await startGitServer({ tls });
  const repository = await server.createRepository('r');
  await repository.commit({ a: '1' });
  assert.deepEqual(await rootOf(await fetched(source(repository.url, { credentials: { caBundle: tls.cert } }))), ['a']);
  await assert.rejects(resolve(source(repository.url)), {
    reason: 'CertificateNotTrusted',
    class: 'terminal',
    message: /put the authority's certificate as ca\.crt/,
  });
  await assert.rejects(resolve(source(repository.url, { credentials: { caBundle: selfSigned().cert } })), {
    reason: 'CertificateNotTrusted',
  });
});

test('an expired certificate and one of another host are not trusted', async () => {
  for (const tls of [selfSigned('127.0.0.1', { expired: true }), selfSigned('127.0.0.9')]) {
    await using server = await startGitServer({ tls });
    await assert.rejects(resolve(source(`${server.url}/r.git`, { credentials: { caBundle: tls.cert } })), {
      reason: 'CertificateNotTrusted',
    });
  }
});

test('HTTPS to a port that speaks HTTP says so', async () => {
  await using server = await startGitServer();
  await assert.rejects(resolve(source(`${server.url.replace('http:', 'https:')}/r.git`)), {
    reason: 'Unreachable',
    message: /does not speak TLS/,
  });
});
