import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { CommitStatus } from '../../../gitops/forges/forge.ts';
import { openForge } from '../../../gitops/forges/forges.ts';
import { sendChanged } from '../../../gitops/statuses/report.ts';
import { selfSigned } from '../../support/git/certificate.ts';
import { type ForgeFault, type ForgeServer, startForge } from '../../support/git/forge.ts';
import { localNetwork } from '../../support/network.ts';

const sha = 'ab'.repeat(20);
const wanted: CommitStatus = { sha, context: 'etcd-ratchet/production', state: 'pending', description: 'rolling out' };

/** The contract that every forge keeps. */
for (const type of ['GitHub', 'Gitea', 'Forgejo'] as const) {
  function open(server: ForgeServer, change: { caBundle?: string } = {}) {
    const apiURL = type === 'GitHub' ? server.url : undefined;
    return openForge(type, {
      gitUrl: `${server.url}/platform/etcd.git`,
      credentials: { kind: 'token', token: 'hunter2' },
      ...(apiURL ? { apiURL } : {}),
      network: localNetwork,
      ...change,
    });
  }

  function send(server: ForgeServer, statuses: readonly CommitStatus[] = [wanted], budgetMs = 10_000) {
    return sendChanged(open(server), statuses, [], {
      signal: AbortSignal.timeout(budgetMs),
      deadline: Date.now() + budgetMs,
      sleep: (ms, signal) => setTimeout(ms / 100, undefined, { signal }),
    });
  }

  test(`${type} takes a status, and shows the newest`, async () => {
    await using server = await startForge({ token: 'hunter2' });
    const done: CommitStatus = {
      ...wanted,
      state: 'success',
      description: 'converged',
      targetURL: 'https://example.com/x',
    };
    assert.deepEqual(await send(server), { sent: [wanted] });
    assert.deepEqual(await send(server, [done]), { sent: [done] });
    assert.deepEqual(server.statusesOf(sha).get(wanted.context), {
      owner: 'platform',
      repository: 'etcd',
      sha,
      context: 'etcd-ratchet/production',
      state: 'success',
      description: 'converged',
      target_url: 'https://example.com/x',
    });
  });

  for (const [name, fault, reason, requests] of [
    ['refuses the token', { kind: 'status', status: 401, message: 'Bad credentials' }, 'ForgeUnauthorized', 1],
    ['forbids it', { kind: 'status', status: 403, message: 'Resource not accessible' }, 'ForgeForbidden', 1],
    [
      'limits the rate for an hour',
      {
        kind: 'status',
        status: 403,
        headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 3600) },
      },
      'RateLimited',
      1,
    ],
    [
      'asks to come back much later',
      { kind: 'status', status: 429, headers: { 'retry-after': '3600' } },
      'RateLimited',
      1,
    ],
    ['does not know the repository', { kind: 'status', status: 404 }, 'RepositoryNotFound', 1],
    ['rejects the status', { kind: 'status', status: 422 }, 'StatusRejected', 1],
    ['is always busy', { kind: 'status', status: 409 }, 'ForgeBusy', 5],
    ['is always down', { kind: 'status', status: 502 }, 'ForgeFailing', 5],
    ['closes every connection', { kind: 'reset' }, 'ForgeUnreachable', 5],
    ['answers with a web page', { kind: 'html' }, 'BadAnswer', 1],
    ['answers without end', { kind: 'flood' }, 'ForgeFailing', 5],
  ] as const satisfies readonly (readonly [string, ForgeFault, string, number])[]) {
    test(`${type} that ${name} is ${reason} after ${requests} tries, and no exception`, async () => {
      await using server = await startForge();
      server.breakWith(fault);
      const { sent, failure } = await send(server);
      assert.deepEqual(sent, []);
      assert.equal(failure?.reason, reason);
      assert.doesNotMatch(failure?.message ?? '', /hunter2/);
      assert.equal(server.requests.length, requests);
    });
  }

  for (const [name, fault] of [
    ['was down', { kind: 'status', status: 503 }],
    ['asked for a second', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }],
    ['was busy', { kind: 'status', status: 409 }],
    ['broke the connection', { kind: 'reset' }],
  ] as const) {
    test(`${type} that ${name} gets the status once it is well`, async () => {
      await using server = await startForge();
      server.breakWith(fault, 1);
      assert.deepEqual(await send(server), { sent: [wanted] });
      assert.equal(server.statuses.length, 1);
    });
  }

  test(`${type} that hangs costs no more than the budget`, async () => {
    await using server = await startForge();
    server.breakWith({ kind: 'hang' });
    const started = performance.now();
    const { failure } = await send(server, [wanted, { ...wanted, context: 'other' }], 700);
    assert.equal(failure?.reason, 'Timeout');
    assert.ok(performance.now() - started < 3000);
  });

  test(`${type} that redirects to another host does not get the token there`, async () => {
    await using server = await startForge();
    await using thief = await startForge();
    server.breakWith({ kind: 'redirect', to: `${thief.url}/x` });
    assert.equal((await send(server)).failure?.reason, 'RedirectRefused');
    assert.equal(thief.requests.length, 0);
  });

  test(`${type} that leads a renamed repository on within its host gets the status there`, async () => {
    await using server = await startForge();
    const api = type === 'GitHub' ? '' : '/api/v1';
    server.breakWith({ kind: 'redirect', to: `${server.url}${api}/repos/platform/renamed/statuses/${sha}` }, 1);
    assert.deepEqual(await send(server), { sent: [wanted] });
    assert.partialDeepStrictEqual(server.statuses, [{ repository: 'renamed', sha, state: 'pending' }]);
  });

  test(`${type} with a certificate of its own is trusted through the bundle`, async () => {
    const tls = selfSigned();
    await using server = await startForge({ tls });
    const options = { signal: AbortSignal.timeout(5000), deadline: Date.now() + 2000 };
    assert.deepEqual(await sendChanged(open(server, { caBundle: tls.cert }), [wanted], [], options), {
      sent: [wanted],
    });
    assert.equal((await sendChanged(open(server), [wanted], [], options)).failure?.reason, 'CertificateNotTrusted');
  });

  test(`${type} that is not there is ForgeUnreachable`, async () => {
    const server = await startForge();
    await server.stop();
    assert.equal((await send(server)).failure?.reason, 'ForgeUnreachable');
  });
}
