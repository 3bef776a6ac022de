import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createReader } from '../../../functions/page/read.ts';
import { securityHeaders } from '../../../functions/page/respond.ts';
import { styleHash } from '../../../functions/page/style.ts';
import { EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { cluster, clusters, fleet, fleets, head, orders, plan, report } from '../../support/page/scene.ts';
import { configMapOf, pages } from '../../support/page/server.ts';
import { commandOf } from '../../support/page/words.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { wireOf } from '../../support/world/wire.ts';
import { createWorld, namespace } from '../../support/world/world.ts';

const full = { fleets, clusters, reports: [report], plan: async () => plan } as const;
const paths = ['/', '/fleets/etcd-ratchet/production', '/clusters/payments/orders', `/checks/${head}`];

for (const path of paths) {
  test(`${path}: every answer has the headers that keep it to itself`, async () => {
    const { get } = pages(full);
    const broken = pages({ ...full, serves: () => false });
    const answers = [
      await get(path),
      await get(path, { host: 'evil.example' }),
      await broken.get(path),
      await get(path, {}, 'HEAD'),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 421, 503, 200],
    );
    for (const { headers } of answers) {
      for (const [name, value] of Object.entries(securityHeaders)) assert.equal(headers.get(name), value);
    }
    const policy = securityHeaders['content-security-policy'];
    for (const part of ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(part), part);
    }
    assert.doesNotMatch(policy, /unsafe|script-src|\*/);
    assert.equal(await answers[3]?.text(), '');
  });

  test(`${path}: nothing but GET and HEAD`, async () => {
    const { get } = pages(full);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await get(path, {}, method);
      assert.equal(answer.status, 405, method);
      assert.equal(answer.headers.get('allow'), 'GET, HEAD');
    }
  });

  test(`${path}: who has it already is told so`, async () => {
    const { get } = pages(full);
    const etag = (await get(path)).headers.get('etag') ?? '';
    assert.match(etag, /^W\/"[\w-]{22}"$/);
    const again = await get(path, { 'if-none-match': `"other", ${etag}` });
    assert.equal(again.status, 304);
    assert.equal(await again.text(), '');
    assert.equal((await get(path, { 'if-none-match': '"other"' })).status, 200);
  });
}

test('the page of a fleet names the signer, and that of a check says what a merge needs', async () => {
  const { get } = pages(full);
  assert.match(await (await get('/fleets/etcd-ratchet/production')).text(), /Signed by.*ada@example\.com/s);
  assert.match(await (await get(`/checks/${head}`)).text(), /Signatures.*not by fast-forward/s);
});

test('after a quiet hour, the first visitor is told that no pass came', async () => {
  const lastRun = '2026-10-21T07:00:00Z';
  let clock = new Date('2026-10-21T07:01:00Z');
  const quiet = fleet('production', { lastRun });
  for (const path of ['/', '/fleets/etcd-ratchet/production']) {
    clock = new Date('2026-10-21T07:01:00Z');
    const { get, kube } = pages({ fleets: [quiet], clock: () => clock });
    await kube.list(resources.pods, {});
    clock = new Date('2026-10-21T08:01:00Z');
    const text = await (await get(path)).text();
    assert.match(text, /no pass for 1 ?h/);
    assert.match(text, /As of [^<]*08:01/);
  }
});

test('a fleet that no pass has ever looked at is silent since it was made', async () => {
  const { status: _, ...unseen } = fleet('production');
  const madeAt = Date.parse(unseen.metadata.creationTimestamp ?? '');
  const at = (minutes: number) => async () => {
    const { get } = pages({ fleets: [unseen], clock: () => new Date(madeAt + minutes * 60_000) });
    return (await get('/')).text();
  };
  assert.doesNotMatch(await at(10)(), /no pass for/);
  assert.match(await at(20)(), /no pass for 20 ?min/);
});

test('the policy names the very style that is in the page', async () => {
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(await (await pages(full).get('/')).text()) ?? [];
  assert.ok(style.length > 1000);
  assert.equal(styleHash, `'sha256-${createHash('sha256').update(style).digest('base64')}'`);
});

for (const path of [
  '/clusters/payments/nothing',
  '/clusters/nowhere/orders',
  '/fleets/etcd-ratchet/nothing',
  `/checks/${'0'.repeat(40)}`,
  '/checks/main',
  '/checks/..%2f..%2fapi',
  '/clusters/payments/%00',
  `/clusters/payments/${'x'.repeat(5000)}`,
]) {
  test(`${path.slice(0, 60)} is not found, and does not repeat what was asked`, async () => {
    const answer = await pages(full).get(path);
    assert.equal(answer.status, 404);
    assert.doesNotMatch(await answer.text(), /nothing<|nowhere|xxxx|api\b.*etc/);
  });
}

test('what is not installed, and what may not be read, is said where it can be mended', async () => {
  const missing = await pages({ ...full, serves: () => false }).get('/');
  assert.equal(missing.status, 503);
  const forbidden = await pages({ ...full, authorize: () => false }).get('/');
  assert.equal(forbidden.status, 503);
  assert.match(await forbidden.text(), /etcdfleets|etcdclusters/);
});

test('an API server that is away is said to be, with 503, and asked once for a storm of reloads', async () => {
  let asked = 0;
  const { get, logged } = pages({
    ...full,
    before: () => {
      asked += 1;
      throw new KubeError('GET /apis: no answer', { class: 'retryable', reason: 'Unreachable' });
    },
  });
  const answers = await Promise.all(Array.from({ length: 100 }, () => get('/')));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [503]);
  assert.match((await answers[0]?.text()) ?? '', /no answer/);
  assert.ok(asked <= 2, `${asked}`);
  assert.ok(logged.length > 0);
});

test('a storm of reloads of every page costs what one reload does', async () => {
  const { get, kube } = pages(full);
  await Promise.all(Array.from({ length: 100 }, () => paths.map((path) => get(path))).flat());
  const keys = kube.journal().map(({ key }) => key);
  const kinds = ['configmaps', 'etcdbackups', 'etcdbackupschedules', 'etcdclusters', 'etcdfleets', 'etcdnodepolicies'];
  assert.deepEqual(
    keys.toSorted(),
    kinds.map((kind) => `LIST ${kind}`),
  );
});

test('reports of another namespace, of another commit, or that are none, are not shown', async () => {
  const { get, kube } = pages({ fleets });
  const good = configMapOf(report);
  const foreign = { ...good, metadata: { ...good.metadata, namespace: 'etcd-ratchet', name: 'foreign' } };
  const claims = { ...report, fleet: { namespace: 'elsewhere', name: 'production' } };
  kube.seed(resources.configMaps, { ...foreign, data: { 'report.json': JSON.stringify(claims) } });
  kube.seed(resources.configMaps, {
    ...foreign,
    metadata: { ...foreign.metadata, name: 'wrong-head' },
    data: { 'report.json': JSON.stringify({ ...report, head: 'f'.repeat(40) }) },
  });
  kube.seed(resources.configMaps, { ...foreign, metadata: { ...foreign.metadata, name: 'none' }, data: {} });
  assert.equal((await get(`/checks/${head}`)).status, 404);
});

test('a commit that no fleet checks costs the API server nothing, however many are tried', async () => {
  const { get, kube } = pages(full);
  for (let n = 0; n < 50; n++) {
    const sha = `${n}`.padStart(40, 'a');
    assert.equal((await get(`/checks/${sha}`)).status, 404);
  }
  assert.deepEqual(
    kube.journal().filter(({ key }) => key === 'LIST configmaps'),
    [],
  );
});

test('a report is found however many namespaces hold fleets', async () => {
  const [{ status } = fleet('none')] = fleets;
  const many = Array.from({ length: 100 }, (_, n) => {
    const { metadata, ...rest } = fleet('production');
    const name = `team-${`${n}`.padStart(3, '0')}`;
    return { ...rest, metadata: { ...metadata, namespace: name, uid: name }, status: n === 99 ? status : undefined };
  });
  const theirs = { ...report, fleet: { namespace: 'team-099', name: 'production' } };
  const { get } = pages({ fleets: many as never, reports: [theirs] });
  assert.equal((await get(`/checks/${head}`)).status, 200);
});

test('a commit is led to where its forge is known, and a repository with credentials nowhere', async () => {
  const { get } = pages(full);
  const body = await (await get('/clusters/payments/orders')).text();
  assert.match(body, /href="https:\/\/git\.example\.com\/platform\/etcd\/commit\/[0-9a-f]{40}"/);
  const git = { url: 'https://me:hunter2@git.example.com/platform/etcd.git', ref: 'main' };
  const leaky = fleet('leaky', {}, { git });
  const { get: see } = pages({ fleets: [leaky] });
  for (const path of ['/', '/fleets/etcd-ratchet/leaky']) {
    const shown = await (await see(path)).text();
    assert.doesNotMatch(shown, /hunter2|me:h/);
  }
});

test('a fleet without a pass for long says so', async () => {
  const silent = fleet('production', { lastRun: '2026-11-21T09:00:00Z' });
  const body = await (await pages({ fleets: [silent] }).get('/')).text();
  assert.match(body, /NoPass/);
  assert.match(body, /no pass for 8 h: is the CronJob suspended/);
  const fresh = await (await pages({ fleets: [fleet('production')] }).get('/')).text();
  assert.doesNotMatch(fresh, /NoPass/);
});

test('a fleet shows its open requests, and the last commits with what came of them', async () => {
  const { get } = pages(full);
  const body = await (await get('/fleets/etcd-ratchet/production')).text();
  assert.match(body, new RegExp(`<a href="../../checks/${head}">#17</a> <span class="badge bad">Failed`));
  assert.match(body, /#18<\/a> <span class="badge good">Passed/);
  assert.doesNotMatch(body, />#19</);
  assert.match(body, /1 day ago.*commit\/4b4b.*Applied/s);
  const newer = { ...fleets[0]?.status?.checks?.[0], state: 'dancing' } as never;
  const odd = pages({ fleets: [fleet('production', { checks: [newer] })] });
  assert.match(await (await odd.get('/fleets/etcd-ratchet/production')).text(), /badge calm">dancing/);
});

test('a check whose request is closed says so', async () => {
  const answer = await pages(full).get(`/checks/${'0'.repeat(40)}`);
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /a report is kept while its request is open/);
});

test('nothing at all is an invitation', async () => {
  const answer = await pages({}).get('/');
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /Nothing here yet/);
});

/** A reader over a world where etcd runs, and what it asked for. */
async function planning(options: { readonly planMs?: number; readonly reaches?: (endpoint: string) => boolean } = {}) {
  const { reaches = () => true, ...limits } = options;
  const world = createWorld();
  await world.apply();
  for (let step = 0; step < 60; step += 1) {
    await world.tick();
    world.settle();
    world.advance(30);
  }
  await world.apply({ replicas: 5 });
  const found = world.cluster() ?? assert.fail('no cluster');
  const reader = createReader({
    kube: world.kube,
    etcd: async (tls) => reaching(etcdOf(world.state, tls), reaches),
    wire: wireOf(world.state),
    holder: { pod: 'page', uid: 'page' },
    nonce: () => 'f'.repeat(32),
    namespace,
    ...limits,
  });
  const start = world.kube.journal().length;
  return { world, found, reader, requests: () => world.kube.journal().slice(start) };
}

test('a plan is made from what is live, once for a storm, and writes nothing', async () => {
  const { found, reader, requests } = await planning();
  const views = await Promise.all(Array.from({ length: 50 }, () => reader.plan(found)));
  const [view] = views;
  assert.equal(new Set(views).size, 1);
  assert.ok(view?.kind === 'planned');
  assert.match(view.planned.summary, /\+2 members/);
  assert.equal(view.planned.end.kind, 'done');
  const once = requests().length;
  await reader.plan(found);
  assert.equal(requests().length, once);
  for (const { verb } of requests()) assert.ok(verb === 'GET' || verb === 'LIST', verb);

  const { get } = pages({ clusters: [found], plan: reader.plan });
  const body = await (await get(`/clusters/${namespace}/orders`)).text();
  assert.match(body, /What comes next/);
  assert.match(body, /<ol class="steps"><li>/);
});

test('a plan that may not be made says what would let it, and the rest of the page stands', async () => {
  const { world, found, reader } = await planning();
  world.forbidden.add('LIST pods');
  const { get } = pages({ clusters: [found], plan: reader.plan });
  const answer = await get(`/clusters/${namespace}/orders`);
  assert.equal(answer.status, 200);
  const body = await answer.text();
  assert.match(body, /add the component page-plans/);
  assert.match(body, commandOf(`kubectl ratchet -n ${namespace} plan orders --in-cluster`));
  assert.match(body, /orders-0/);
});

/** Where something else answers at the members' addresses, as in another network. */
function reaching(etcd: EtcdAdmin, reaches: (endpoint: string) => boolean): EtcdAdmin {
  const words = 'it presented a certificate that no authority in our ca.crt has signed';
  const refused = new EtcdError(words, 'down', undefined, 'WrongAuthority');
  return {
    ...etcd,
    members: async (...asked) => (asked[0].some(reaches) ? etcd.members(...asked) : Promise.reject(refused)),
    lastMembers: async (...asked) => (asked[0].some(reaches) ? etcd.lastMembers(...asked) : Promise.reject(refused)),
    status: async (...asked) => (reaches(asked[0]) ? etcd.status(...asked) : Promise.reject(refused)),
  };
}

test('from where no member can be reached, the page says that, and makes no wrong plan', async () => {
  const { found, reader } = await planning({ reaches: () => false });
  const { get } = pages({ clusters: [found], plan: reader.plan });
  const body = await (await get(`/clusters/${namespace}/orders`)).text();
  assert.match(body, /etcd-ratchet reaches the members, and this page does not/);
  assert.match(body, commandOf(`kubectl ratchet -n ${namespace} plan orders --in-cluster`));
  assert.doesNotMatch(body, /WrongAuthority|class="steps"/);
});

test('a plan is made where one member answers, and where no pass reaches any either', async () => {
  const one = await planning({ reaches: (endpoint) => !endpoint.includes('orders-1') });
  const view = await one.reader.plan(one.found);
  assert.equal(view.kind, 'planned');
  const { found, reader } = await planning({ reaches: () => false });
  const { status = assert.fail('no status') } = found;
  const conditions = status.conditions?.map((told) =>
    told.type === 'Available' ? { ...told, status: 'False' as const, reason: 'NoQuorum' } : told,
  );
  const unreached = await reader.plan({ ...found, status: { ...status, ...(conditions && { conditions }) } });
  assert.equal(unreached.kind, 'planned');
});

test('a plan that takes too long is given up, and more than a few are not made at once', async () => {
  const { world, found } = await planning();
  const stuck = { ...world.kube, list: () => new Promise<never>(() => undefined) };
  const reader = createReader({
    kube: { ...stuck, bounded: () => stuck },
    etcd: () => Promise.reject(new Error('not asked')),
    wire: () => Promise.reject(new Error('not asked')),
    holder: { pod: 'page', uid: 'page' },
    nonce: () => 'f'.repeat(32),
    planMs: 50,
  });
  const others = Array.from({ length: 5 }, (_, n) => cluster(`lab/c${n}`));
  const views = await Promise.all([found, ...others].map((one) => reader.plan(one)));
  const messages = views.map((view) => (view.kind === 'none' ? view.message.replace(/By hand.*/, '') : view.kind));
  assert.equal(messages.filter((message) => /took too long/.test(message)).length, 3);
  assert.equal(messages.filter((message) => /Other plans are being made/.test(message)).length, 3);
});

test('pages ask for no Secret, and tell none', async () => {
  const { get, kube } = pages(full);
  for (const path of paths) await get(path);
  assert.deepEqual(
    kube.journal().filter(({ resource }) => resource.plural === 'secrets'),
    [],
  );
  const named = {
    ...orders,
    metadata: { ...orders.metadata, annotations: { token: 'hunter2', 'x/secret': 'hunter2' } },
  };
  const { get: see } = pages({ clusters: [named], plan: async () => plan });
  for (const path of ['/', '/clusters/payments/orders']) assert.doesNotMatch(await (await see(path)).text(), /hunter2/);
});
