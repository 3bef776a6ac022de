import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import type { Hono } from 'hono';
import type { Job } from '../../../functions/pass/follow-up/chain.ts';
import { composed } from '../../../functions/serve/serve.ts';
import { webhooks } from '../../../functions/serve/webhooks.ts';
import type { EtcdFleet, WebhookType } from '../../../manifests/api/etcd-fleet.ts';
import { webhookTypes } from '../../../manifests/api/etcd-fleet.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeKube, FakeKubeOptions } from '../../support/fakes/kube.ts';
import { callers, noCommit, type Sent } from '../../support/webhooks/deliveries.ts';
import { cronJob, env, fleet, installation, seedSecret, url } from './installation.ts';

const stop = new AbortController().signal;
const push = { url, ref: 'refs/heads/main', before: '1'.repeat(40), after: 'a'.repeat(40) };

interface Scene {
  readonly kube: FakeKube;
  readonly app: Hono;
  readonly logged: object[];
}

async function open(options: FakeKubeOptions = {}, kube = installation(options)): Promise<Scene> {
  const logged: object[] = [];
  const log = (fields: object, message: string) => void logged.push({ ...fields, message });
  const group = await webhooks({ kube, log, env, version: '0', stop });
  return { kube, app: composed([group], stop), logged };
}

async function post({ app }: Scene, { headers, body }: Sent, name = 'production'): Promise<Response> {
  return app.request(`/hooks/etcd-ratchet/${name}`, { method: 'POST', headers, body });
}

async function pushed(facts: Partial<typeof push> = {}, secret = 'secret'): Promise<Sent> {
  return callers.GitHub.send(secret, 'push', callers.GitHub.push({ ...push, ...facts }));
}

function jobs({ kube }: Scene): readonly (Job & { readonly spec: typeof cronJob.spec.jobTemplate.spec })[] {
  return kube.stored(resources.jobs);
}

let scene: Scene;
beforeEach(async () => {
  scene = await open();
});

test('a push is accepted with 202 and becomes one Job of the CronJob, for this fleet', async () => {
  const response = await post(scene, await pushed());
  assert.equal(response.status, 202);
  const [job, ...others] = jobs(scene);
  assert.deepEqual(others, []);
  assert.equal(await response.text(), `accepted as Job ${job?.metadata.name}\n`);
  assert.deepEqual(job?.spec.template.spec.containers[0]?.args, [
    '--namespace=$(POD_NAMESPACE)',
    '--fleet=etcd-ratchet/production',
    '--go-on',
  ]);
  assert.partialDeepStrictEqual(job, {
    metadata: {
      labels: { 'etcd.ratchet.dev/trigger': 'webhook', 'etcd.ratchet.dev/fleet': 'uid-of-production' },
      annotations: { 'etcd.ratchet.dev/reason': `push ${push.after}` },
    },
  });
  assert.equal(job?.metadata.ownerReferences?.[0]?.uid, 'cronjob');
  assert.ok((job?.metadata.name.length ?? 99) <= 63);
});

for (const type of webhookTypes) {
  test(`${type} reaches the fleet`, async () => {
    scene.kube.seed(resources.fleets, fleet('production', { webhook: { type, secretName: 'webhook' } }));
    const caller = callers[type];
    assert.equal((await post(scene, await caller.send('secret', caller.events.push, caller.push(push)))).status, 202);
    assert.equal(jobs(scene).length, 1);
    const other = callers[type === 'GitHub' ? 'Generic' : 'GitHub'];
    assert.equal((await post(scene, await other.send('secret', 'push', other.push(push)))).status, 401);
    assert.equal(jobs(scene).length, 1);
  });
}

test('without a type, a webhook is of the fleet’s forge; without a forge, it is generic', async () => {
  const kinds: readonly (readonly [Partial<EtcdFleet['spec']>, WebhookType])[] = [
    [{ forge: { type: 'Gitea', secretName: 'x' } }, 'Gitea'],
    [{}, 'Generic'],
  ];
  for (const [spec, type] of kinds) {
    const one = await open();
    one.kube.seed(resources.fleets, fleet('production', { ...spec, webhook: { secretName: 'webhook' } }));
    const sent = await callers[type].send('secret', 'push', callers[type].push(push));
    assert.equal((await post(one, sent)).status, 202, type);
  }
});

test('the same delivery again is the same Job, also when it has ended', async () => {
  const sent = await pushed();
  await post(scene, sent);
  const again = await post(scene, sent);
  assert.equal(again.status, 202);
  assert.match(await again.text(), /^accepted before, as Job /);
  assert.equal(jobs(scene).length, 1);
});

test('a new delivery of the same push is not swallowed: a branch may return to a commit', async () => {
  for (let n = 0; n < 2; n++) await post(scene, await pushed());
  assert.equal(jobs(scene).length, 2);
});

test('a replay under changed names shares one Job that looks later', async () => {
  for (let n = 0; n < 5; n++) {
    const { headers, body } = await pushed();
    assert.equal(
      (await post(scene, { headers: { ...headers, 'x-github-delivery': `made-up-${n}` }, body })).status,
      202,
    );
  }
  const late = jobs(scene).filter((job) => job.spec.template.spec.containers[0]?.args?.includes('--delay=12'));
  assert.equal(jobs(scene).length - late.length, 1);
  assert.ok(late.length >= 1 && late.length <= 2, 'one for each ten seconds');
});

test('a delivery without a name that was seen before is looked at once more, later', async () => {
  scene.kube.seed(resources.fleets, fleet('production', { webhook: { type: 'Generic', secretName: 'webhook' } }));
  const { headers, body } = await callers.Generic.send('secret', '', 'deployed');
  const { 'x-delivery': _, ...nameless } = headers;
  const sent = { headers: { ...nameless, 'content-type': 'text/plain' }, body };
  for (let n = 0; n < 5; n++) assert.equal((await post(scene, sent)).status, 202);
  const late = jobs(scene).filter((job) => job.spec.template.spec.containers[0]?.args?.includes('--delay=12'));
  assert.equal(jobs(scene).length - late.length, 1);
  assert.ok(late.length >= 1 && late.length <= 2, 'one for each ten seconds');
});

test('a burst of a hundred pushes makes two Jobs at once and one that sees all the others', async () => {
  const sent = await Promise.all(
    Array.from({ length: 100 }, (_, n) => pushed({ after: String(n).padStart(40, '0') + 1 })),
  );
  const answers: Response[] = [];
  // The gate lets so many in at once; a forge tries again, or the tick finds it.
  while (sent.length > 0) answers.push(...(await Promise.all(sent.splice(0, 50).map((one) => post(scene, one)))));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
  const delayed = jobs(scene).filter((job) => job.spec.template.spec.containers[0]?.args?.includes('--delay=12'));
  assert.equal(jobs(scene).length - delayed.length, 2);
  assert.ok(delayed.length >= 1 && delayed.length <= 2, `${delayed.length}: one for each ten seconds`);
});

test('a suspended CronJob starts nothing, and the forge is told', async () => {
  scene.kube.seed(resources.cronJobs, { ...cronJob, spec: { ...cronJob.spec, suspend: true } });
  const response = await post(scene, await pushed());
  assert.equal(response.status, 200);
  assert.match(await response.text(), /CronJob etcd-ratchet\/etcd-ratchet is suspended/);
  assert.deepEqual(jobs(scene), []);
});

for (const [what, sent, because] of [
  ['a ping', () => callers.GitHub.send('secret', 'ping', { zen: 'x' }), /a ping/],
  ['a deletion of the branch', () => pushed({ after: noCommit }), /main was deleted/],
  ['another branch', () => pushed({ ref: 'refs/heads/feature' }), /another ref than main/],
  ['a tag', () => pushed({ ref: 'refs/tags/v1' }), /another ref than main/],
  ['a push that moved nothing', () => pushed({ before: push.after }), /did not move/],
  ['another repository', () => pushed({ url: 'https://git.example.com/other/thing.git' }), /another repository/],
  ['a request for another branch', () => requested('dev'), /another ref/],
  ['an event of no interest', () => callers.GitHub.send('secret', 'star', {}), /of interest/],
] as const) {
  test(`${what} is answered by a clear 200, and nothing is started`, async () => {
    const response = await post(scene, await sent());
    assert.equal(response.status, 200);
    assert.match(await response.text(), because);
    assert.deepEqual(jobs(scene), []);
  });
}

function requested(target: string): Promise<Sent> {
  return callers.GitHub.send('secret', 'pull_request', callers.GitHub.request({ url, target, number: 17 }));
}

test('a branch that is made with no new commit, and a request for the branch, are looked at', async () => {
  assert.equal((await post(scene, await pushed({ before: noCommit }))).status, 202);
  assert.equal((await post(scene, await requested('main'))).status, 202);
  const reasons = jobs(scene).map(({ metadata }) => metadata.annotations?.['etcd.ratchet.dev/reason']);
  assert.deepEqual(reasons.toSorted(), [`push ${push.after}`, 'request 17']);
});

test('a delivery without proof gets the same answer for every fleet, and nothing else happens', async () => {
  seedSecret(scene.kube, 'empty', { secret: '' });
  seedSecret(scene.kube, 'keyless', { token: 'secret' });
  seedSecret(scene.kube, 'foreign', { secret: 'secret' }, {});
  for (const [name, secretName] of [
    ['empty', 'empty'],
    ['foreign', 'foreign'],
    ['keyless', 'keyless'],
    ['secretless', 'nowhere'],
  ] as const)
    scene.kube.seed(resources.fleets, fleet(name, { webhook: { type: 'GitHub', secretName } }));
  const { webhook: _, ...without } = fleet('deaf').spec;
  scene.kube.seed(resources.fleets, { ...fleet('deaf'), spec: without });

  const marked = { ...push, url: 'https://marker.example.com' };
  const good = await callers.GitHub.send('secret', 'push', callers.GitHub.push(marked));
  const wrong = await callers.GitHub.send('wrong', 'push', callers.GitHub.push(marked));
  const { 'x-hub-signature-256': _signature, ...unsigned } = good.headers;
  const empty = await callers.GitHub.send('', 'push', callers.GitHub.push(marked));
  const answers: Response[] = [];
  for (const name of [
    'production',
    'empty',
    'foreign',
    'keyless',
    'secretless',
    'deaf',
    'unknown',
    '__proto__',
    'a%00b',
  ]) {
    for (const sent of [wrong, { ...good, headers: unsigned }, empty, ...(name === 'production' ? [] : [good])]) {
      answers.push(await post(scene, sent, name));
    }
  }
  const told = await Promise.all(
    answers.map(async (answer) => JSON.stringify([answer.status, [...answer.headers], await answer.text()])),
  );
  assert.deepEqual([...new Set(told)], ['[401,[],""]']);
  assert.deepEqual(jobs(scene), []);
  assert.doesNotMatch(JSON.stringify(scene.logged), /marker|sha256|refs/);
});

test('a Secret that is not shared verifies no delivery, and the log prints the cure', async () => {
  const one = await open();
  seedSecret(one.kube, 'webhook', { secret: 'secret' }, {});
  assert.equal((await post(one, await pushed())).status, 401);
  const [{ problem } = {}] = one.logged.map((line) => line as { readonly problem?: string });
  assert.match(
    problem ?? '',
    /kubectl -n etcd-ratchet label --overwrite secret webhook etcd\.ratchet\.dev\/fleet-secret=true$/,
  );
});

test('a flood of refused requests costs one list of fleets, one Secret and one log line', async () => {
  const wrong = await pushed({}, 'wrong');
  for (let n = 0; n < 500; n++) {
    assert.equal((await post(scene, wrong, n % 2 === 0 ? 'production' : `unknown-${n}`)).status, 401);
  }
  assert.deepEqual(scene.kube.requests(), { 'LIST etcdfleets': 1, 'GET secrets': 1 });
  assert.equal(scene.logged.length, 1);
});

test('secrets and fleets are asked for again after ten seconds: a rotation arrives', async () => {
  const now = mock.method(performance, 'now', () => 1_000_000);
  try {
    const one = await open();
    assert.equal((await post(one, await pushed())).status, 202);
    seedSecret(one.kube, 'webhook', { secret: 'new', previousSecret: 'secret' });
    assert.equal((await post(one, await pushed({}, 'new'))).status, 401, 'not yet known');
    now.mock.mockImplementation(() => 1_011_000);
    for (const secret of ['new', 'secret']) assert.equal((await post(one, await pushed({}, secret))).status, 202);
    seedSecret(one.kube, 'webhook', { secret: 'new\n' });
    now.mock.mockImplementation(() => 1_022_000);
    assert.deepEqual(
      [(await post(one, await pushed({}, 'secret'))).status, (await post(one, await pushed({}, 'new'))).status],
      [401, 202],
    );
  } finally {
    now.mock.restore();
  }
});

test('while the API server does not answer, every delivery gets 503 with a time to retry', async () => {
  const away = () => {
    throw new KubeError('no answer', { class: 'retryable', reason: 'Unreachable' });
  };
  const one = await open({ before: away });
  for (const [sent, name] of [
    [await pushed(), 'production'],
    [await pushed({}, 'wrong'), 'unknown'],
  ] as const) {
    const response = await post(one, sent, name);
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '2']);
  }
  assert.deepEqual(one.kube.requests(), { 'LIST etcdfleets': 1 });
  assert.equal((await one.app.request('/readyz')).status, 503);
});

test('where the Job is refused for now, by RBAC or a quota, the forge is asked to come again', async () => {
  const one = await open({ authorize: ({ key }) => key !== 'POST jobs' });
  const response = await post(one, await pushed());
  assert.deepEqual([response.status, response.headers.get('retry-after'), await response.text()], [503, '2', '']);
  assert.match(JSON.stringify(one.logged), /orbidden/);
});

test('a Job that the API server does not take is 500 without a word', async () => {
  const one = await open({
    before: ({ key }) => {
      if (key === 'POST jobs') throw new KubeError('no', { class: 'terminal', status: 422, reason: 'Invalid' });
    },
  });
  const response = await post(one, await pushed());
  assert.deepEqual([response.status, await response.text()], [500, '']);
});

test('a body of more than 4 MiB is 413, declared or not; one of almost as much is taken', async () => {
  const large = { ...callers.GitHub.push(push), padding: 'x'.repeat(4 * 1024 * 1024) };
  assert.equal((await post(scene, await callers.GitHub.send('secret', 'push', large))).status, 413);
  const { headers, body } = await callers.GitHub.send('secret', 'push', large);
  const streamed = new Request('http://localhost/hooks/etcd-ratchet/production', {
    method: 'POST',
    headers,
    body: new Blob([body]).stream(),
    duplex: 'half',
  });
  assert.equal((await scene.app.request(streamed)).status, 413);
  const almost = { ...callers.GitHub.push(push), padding: 'x'.repeat(4 * 1024 * 1024 - 1000) };
  assert.equal((await post(scene, await callers.GitHub.send('secret', 'push', almost))).status, 202);
});

test('more than 64 requests at once are asked to come again, and those that are in are served', async () => {
  const held = Promise.withResolvers<void>();
  const one = await open({ before: () => held.promise });
  const sent = await pushed();
  const all = Array.from({ length: 65 }, () => post(one, sent));
  assert.equal((await Promise.race(all)).status, 503);
  held.resolve();
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 202).length, 64);
  assert.equal((await post(one, sent)).status, 202);
  assert.equal(jobs(one).length, 1);
});

test('what is signed and makes no sense is 400, and says which field', async () => {
  const response = await post(scene, await callers.GitHub.send('secret', 'push', { ref: 7 }));
  assert.deepEqual([response.status, await response.text()], [400, 'it is signed, but ref is not a text\n']);
});

test('only POST is taken, and only there', async () => {
  for (const [method, path, status] of [
    ['GET', '/hooks/etcd-ratchet/production', 404],
    ['PUT', '/hooks/etcd-ratchet/production', 404],
    ['POST', '/hooks/etcd-ratchet', 404],
    ['POST', '/hooks/etcd-ratchet/production/more', 404],
    ['GET', '/', 404],
    ['GET', '/healthz', 200],
    ['GET', '/readyz', 200],
  ] as const) {
    assert.equal((await scene.app.request(path, { method })).status, status, `${method} ${path}`);
  }
});

test('a suspended fleet looks at nothing', async () => {
  scene.kube.seed(resources.fleets, fleet('production', { suspend: true }));
  const response = await post(scene, await pushed());
  assert.deepEqual([response.status, jobs(scene).length], [200, 0]);
  assert.match(await response.text(), /the fleet is suspended/);
});
