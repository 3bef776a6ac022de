import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loopbackAccess, reviewedAccess } from '../../../functions/page/access.ts';
import { listensOnLoopback } from '../../../functions/serve/page.ts';
import { KubeError } from '../../../reconcile/interfaces/kube.ts';
import { type Reviewers, type ReviewingKube, reviewing } from '../../support/page/reviews.ts';
import { clusters, fleets, head, report } from '../../support/page/scene.ts';
import { pages } from '../../support/page/server.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function guarded(reviewers: Reviewers, options: { audience?: string } = {}) {
  let kube: ReviewingKube | undefined;
  const scene = pages({
    fleets,
    clusters,
    reports: [report],
    plan: async () => ({ kind: 'none', message: 'none' }),
    access: (fake) => {
      kube = reviewing(fake, reviewers);
      return reviewedAccess(kube, options);
    },
  });
  return { ...scene, asked: () => kube?.asked ?? [] };
}

const users = { alice: { username: 'alice', groups: ['ops'] }, bob: { username: 'bob' }, ghost: {} };

for (const [what, headers] of [
  ['nothing', {}],
  ['a name and a password', { authorization: 'Basic YTpi' }],
  ['no token', { authorization: 'Bearer ' }],
  ['two tokens', { authorization: 'Bearer a b' }],
  ['a token that nobody knows', bearer('forged')],
  ['a token of nobody', bearer('ghost')],
  ['a token without end', bearer('x'.repeat(13_000))],
] as const) {
  test(`a request with ${what} gets 401, and learns nothing`, async () => {
    const { get } = guarded({ users });
    for (const path of ['/', '/clusters/payments/orders', '/clusters/no/where', `/checks/${head}`]) {
      const answer = await get(path, headers);
      assert.equal(answer.status, 401, path);
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer /);
      assert.doesNotMatch(await answer.text(), /orders|sessions|production|QuorumLost|forged/);
    }
  });
}

test('who may see all of it sees all of it', async () => {
  const { get } = guarded({ users });
  const body = await (await get('/', bearer('alice'))).text();
  for (const name of ['payments/orders', 'web/sessions', 'lab/search', 'etcd-ratchet/production']) {
    assert.match(body, new RegExp(name));
  }
});

test('the API server is asked with everything that it said of the user', async () => {
  const { get, asked } = guarded({ users });
  await get('/clusters/payments/orders', bearer('alice'));
  const [token, may] = asked();
  assert.deepEqual(token, { plural: 'tokenreviews', spec: { token: 'alice' } });
  assert.deepEqual(JSON.parse(JSON.stringify(may)), {
    plural: 'subjectaccessreviews',
    spec: {
      user: 'alice',
      groups: ['ops'],
      resourceAttributes: {
        group: 'etcd.ratchet.dev',
        resource: 'etcdclusters',
        verb: 'get',
        namespace: 'payments',
        name: 'orders',
      },
    },
  });
});

test('who may see one namespace sees that one, and does not learn what there is elsewhere', async () => {
  const { get } = guarded({ users, allows: (user, { namespace }) => user === 'bob' && namespace === 'payments' });
  const home = await (await get('/', bearer('bob'))).text();
  assert.match(home, /payments\/orders/);
  assert.match(home, /You see the namespaces in which you may list/);
  assert.doesNotMatch(home, /sessions|search|production|DocumentsRefused/);

  const cluster = await get('/clusters/payments/orders', bearer('bob'));
  assert.equal(cluster.status, 200);
  assert.doesNotMatch(await cluster.text(), /fleets\//);

  const there = await get('/clusters/web/sessions', bearer('bob'));
  const nowhere = await get('/clusters/web/nothing', bearer('bob'));
  assert.deepEqual([there.status, nowhere.status], [403, 403]);
  assert.equal(await there.text(), await nowhere.text());
  assert.equal((await get('/fleets/etcd-ratchet/production', bearer('bob'))).status, 403);
  assert.equal((await get(`/checks/${head}`, bearer('bob'))).status, 404);
});

test('who is allowed by one authorizer and denied by another sees nothing', async () => {
  const { get } = guarded({ users, denies: (user) => user === 'bob' });
  assert.equal((await get('/clusters/payments/orders', bearer('bob'))).status, 403);
  assert.match(await (await get('/', bearer('bob'))).text(), /Nothing that you may see/);
  assert.equal((await get('/clusters/payments/orders', bearer('alice'))).status, 200);
});

test('who may see nothing sees that, and what to ask for', async () => {
  const { get } = guarded({ users, allows: () => false });
  const body = await (await get('/', bearer('bob'))).text();
  assert.match(body, /Nothing that you may see/);
  assert.doesNotMatch(body, /orders|production/);
});

test('a token for another audience does not let its user in', async () => {
  const other = guarded({ users, audiences: ['https://kubernetes.default.svc'] }, { audience: 'etcd-ratchet-page' });
  assert.equal((await other.get('/', bearer('alice'))).status, 401);
  const none = guarded({ users }, { audience: 'etcd-ratchet-page' });
  assert.equal((await none.get('/', bearer('alice'))).status, 401);
  const right = guarded({ users, audiences: ['etcd-ratchet-page'] }, { audience: 'etcd-ratchet-page' });
  assert.equal((await right.get('/', bearer('alice'))).status, 200);
});

test('a storm of one user asks once, and is never taken for another', async () => {
  const { get, asked, kube } = guarded({ users, allows: (user) => user === 'alice' });
  const answers = await Promise.all(Array.from({ length: 300 }, () => get('/', bearer('alice'))));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal(asked().filter(({ plural }) => plural === 'tokenreviews').length, 1);
  assert.equal(kube.journal().length, 3);
  assert.match(await (await get('/', bearer('bob'))).text(), /Nothing that you may see/);
});

test('a flood of unknown tokens is bounded: the rest is told to come back', async () => {
  const gate = Promise.withResolvers<void>();
  const { get } = guarded({ users, before: () => gate.promise });
  const flood = Array.from({ length: 100 }, (_, n) => get('/', bearer(`forged-${n}`)));
  const early = await Promise.race(flood);
  assert.equal(early.status, 503);
  assert.equal(early.headers.get('retry-after'), '1');
  gate.resolve();
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 32);
  assert.equal(statuses.filter((status) => status === 503).length, 68);
  assert.equal((await get('/', bearer('alice'))).status, 200);
});

test('while the API server is away no user gets in, and a stranger learns nothing of it', async () => {
  const away = new KubeError('POST https://10.96.0.1/apis: connect ECONNREFUSED', {
    class: 'retryable',
    reason: 'Unreachable',
  });
  const { get, logged } = guarded({
    users,
    before: () => {
      throw away;
    },
  });
  const answer = await get('/', bearer('secret-token'));
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get('retry-after'), '5');
  assert.doesNotMatch(await answer.text(), /10\.96|ECONNREFUSED|secret-token/);
  assert.match(logged.join('\n'), /ECONNREFUSED/);
  assert.doesNotMatch(logged.join('\n'), /secret-token/);
});

for (const [host, headers, status] of [
  ['localhost:8080', {}, 200],
  ['127.0.0.1', {}, 200],
  ['[::1]:9000', {}, 200],
  ['evil.example', {}, 421],
  ['localhost.evil.example:8080', {}, 421],
  ['10.244.1.7:8080', {}, 421],
  ['', {}, 421],
  ['localhost:8080', { 'x-forwarded-for': '10.244.1.7' }, 421],
  ['localhost:8080', { forwarded: 'for=10.244.1.7' }, 421],
] as const) {
  test(`on loopback, host "${host}" with ${Object.keys(headers)[0] ?? 'nothing else'} is answered ${status}`, async () => {
    const { get } = pages({ clusters, access: () => loopbackAccess });
    const answer = await get('/', { host, ...headers });
    assert.equal(answer.status, status);
    if (status !== 200) assert.doesNotMatch(await answer.text(), /orders/);
  });
}

for (const [env, open] of [
  [{}, false],
  [{ RATCHET_HOST: '' }, false],
  [{ RATCHET_HOST: '0.0.0.0' }, false],
  [{ RATCHET_HOST: '::' }, false],
  [{ RATCHET_HOST: '10.0.0.1' }, false],
  [{ RATCHET_HOST: '127.evil.example' }, false],
  [{ RATCHET_HOST: '127.0.0.1' }, true],
  [{ RATCHET_HOST: 'localhost' }, true],
  [{ RATCHET_HOST: '::1' }, true],
  [{ RATCHET_HOST: '127.0.0.1', K_SERVICE: 'page' }, false],
] as const) {
  test(`with ${JSON.stringify(env)} a user ${open ? 'may look' : 'must authenticate'}`, () => {
    assert.equal(listensOnLoopback(env), open);
  });
}
