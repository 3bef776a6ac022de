import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseReport } from '../../../functions/page/check-report.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeRequest } from '../../support/fakes/kube.ts';
import { context, setStage } from './checks-stage.ts';
import { wholePass } from './pass.ts';
import { clusterYaml } from './scene.ts';

test('a request gets pending at once, then success with the plan, each only once', async () => {
  await using stage = await setStage();
  const { forge, scene, check } = stage;
  const head = await stage.open(7, { 'c/stock.yaml': clusterYaml('stock') });
  const before = scene.fake.journal().length;
  const outcome = await check();
  assert.equal(outcome.failure, undefined);
  assert.deepEqual(
    forge.statuses.map(({ sha, context, state }) => [sha, context, state]),
    [
      [head, context, 'pending'],
      [head, context, 'success'],
    ],
  );
  assert.match(forge.statusesOf(head).get(context)?.description ?? '', /^stock: new, \+3 members, \d+ steps$/);
  const [kept] = stage.reports();
  assert.equal(kept?.report.head, head);
  assert.deepEqual(parseReport(JSON.stringify(kept?.report)), kept?.report, 'the page can read it');
  assert.equal(kept?.report.request?.number, '7');
  assert.equal(kept?.report.clusters[0]?.planned?.end.kind, 'done');
  assert.match(kept?.markdown ?? '', /payments\/stock is created: \d+ steps.*\| 1 \| prepare-members/s);
  const writes = scene.fake
    .journal()
    .slice(before)
    .filter(({ verb, dryRun }) => !['GET', 'LIST', 'WATCH'].includes(verb) && !dryRun);
  assert.deepEqual(
    writes.map(({ key }) => key),
    ['PUT etcdfleets/status', 'POST configmaps', 'PUT etcdfleets/status'],
    'nothing is written but that it is begun, the report, and what it came to',
  );
  const dry = scene.fake
    .journal()
    .slice(before)
    .filter(({ dryRun }) => dryRun);
  assert.deepEqual(
    dry.map(({ key, user }) => [key, user]),
    [
      ['PATCH etcdclusters', 'system:serviceaccount:platform:fleet'],
      ['POST statefulsets', undefined],
    ],
    'only what the request changes is tried, as the fleet; and its pods, as us',
  );
  assert.equal(scene.cluster('stock'), undefined);

  const git = scene.git.requests.length;
  forge.statuses.length = 0;
  assert.deepEqual((await check()).checks, outcome.checks);
  assert.equal(scene.git.requests.length, git, 'a pair that was checked is not fetched again');
  assert.deepEqual(forge.statuses, []);
});

test('a branch behind its target shows only its own change', async () => {
  await using stage = await setStage();
  const head = await stage.open(1, { 'c/orders.yaml': clusterYaml('orders', { replicas: 5 }) });
  await stage.repository.commit({ 'c/ads.yaml': undefined, 'c/late.yaml': clusterYaml('late') }, { keep: true });
  await stage.check();
  assert.match(stage.forge.statusesOf(head).get(context)?.description ?? '', /^orders: /);
  assert.deepEqual(
    stage.reports().flatMap(({ report }) => [...report.clusters, ...report.deletions].map(({ name }) => name)),
    ['orders'],
  );
});

test('what a request breaks fails with file, line and column, and the count of the others', async () => {
  await using stage = await setStage();
  const broken = clusterYaml('orders').replace('replicas: 3', 'replicsa: 3').replace('3.6.16', 'latest');
  const head = await stage.open(2, { 'c/orders.yaml': broken });
  await stage.check();
  const status = stage.forge.statusesOf(head).get(context);
  assert.equal(status?.state, 'failure');
  assert.match(status?.description ?? '', /^c\/orders\.yaml:4:8: .*replicsa.*\(and 1 more\)$/);
});

test('what is broken on the target already is no fault of the request, and is told', async () => {
  await using stage = await setStage();
  await stage.repository.commit({ 'c/bad.yaml': clusterYaml('bad').replace('3.6.16', 'latest') }, { keep: true });
  const head = await stage.open(3, { 'c/stock.yaml': clusterYaml('stock') });
  await stage.check();
  assert.equal(stage.forge.statusesOf(head).get(context)?.state, 'success');
  assert.match(stage.reports()[0]?.markdown ?? '', /Wrong on main as well\n\n- c\/bad\.yaml:4:/);
});

test('a conflict is a failure that names the file', async () => {
  await using stage = await setStage();
  const head = await stage.open(4, { 'c/orders.yaml': clusterYaml('orders', { replicas: 5 }) });
  await stage.repository.commit({ 'c/orders.yaml': clusterYaml('orders', { replicas: 1 }) }, { keep: true });
  await stage.check();
  const status = stage.forge.statusesOf(head).get(context);
  assert.equal(status?.state, 'failure');
  assert.match(
    status?.description ?? '',
    /^c\/orders\.yaml:4:1: cannot be merged into main: both sides changed the same lines/,
  );
});

test('deletions by prune are named, and those that would not happen say why', async () => {
  await using stage = await setStage({ prune: true });
  const { scene } = stage;
  await scene.pass();
  const head = await stage.open(5, { 'c/ads.yaml': undefined });
  await stage.check();
  assert.match(stage.forge.statusesOf(head).get(context)?.description ?? '', /^ads: deleted$/);
  assert.deepEqual(stage.reports()[0]?.report.deletions, [{ namespace: 'payments', name: 'ads' }]);
  const all = await stage.open(6, { 'c/ads.yaml': undefined, 'c/orders.yaml': 'moved: etcd\n' });
  await stage.check();
  assert.match(stage.forge.statusesOf(all).get(context)?.description ?? '', /no longer listed, kept/);
});

test('a request that touches nothing under the path gets no status until the target moves', async () => {
  await using stage = await setStage();
  const head = await stage.open(8, { README: 'goodbye\n' });
  assert.deepEqual(
    (await stage.check()).checks.map(({ state }) => state),
    ['untouched'],
  );
  assert.deepEqual([...stage.forge.statusesOf(head)], []);
  assert.deepEqual(stage.reports(), []);
  const git = stage.scene.git.requests.length;
  await stage.check();
  assert.equal(stage.scene.git.requests.length, git);
});

test('a request that touches nothing gets success where the fleet wants it, told once', async () => {
  await using stage = await setStage({ checks: { untouched: 'Success' } });
  const { forge } = stage;
  const head = await stage.open(8, { README: 'goodbye\n' });
  forge.breakWith({ kind: 'status', status: 500, only: 'POST' });
  await stage.check();
  assert.deepEqual([...forge.statusesOf(head)], [], 'the forge does not take it');
  forge.breakWith(undefined);
  await stage.check();
  const status = forge.statusesOf(head).get(context);
  assert.deepEqual([status?.state, status?.description], ['success', 'changes nothing under c']);
  assert.deepEqual([stage.reports(), forge.comments], [[], []]);
  const told = forge.requests.filter(({ method }) => method !== 'GET').length;
  await stage.repository.commit({ README: 'hello again\n' }, { keep: true });
  const { checks } = await stage.check();
  assert.deepEqual(
    checks.map(({ state, sent }) => [state, sent]),
    [['untouched', true]],
  );
  assert.equal(forge.requests.filter(({ method }) => method !== 'GET').length, told, 'another target is no other word');
});

test('a commit of the merge queue gets its status before requests do, and no comment', async () => {
  await using stage = await setStage({ checks: { mergeQueue: 'Enabled' } });
  const { forge, repository, check } = stage;
  const head = await stage.open(9, { 'c/stock.yaml': clusterYaml('stock') });
  const other = await stage.open(10, { 'c/more.yaml': clusterYaml('more') });
  const base = await repository.git('rev-parse', 'main');
  const branch = `gh-readonly-queue/main/pr-9-${base}`;
  await repository.git('branch', branch, 'main');
  const queued = await repository.commit({ 'c/stock.yaml': clusterYaml('stock') }, { branch, keep: true });
  forge.queue.set(branch, queued);
  forge.queue.set(`gh-readonly-queue/main2/pr-9-${base}`, head);
  forge.queue.set('gh-readonly-queue/main/by-hand', other);
  await check();
  const first = forge.statuses.find(({ state }) => state === 'success');
  assert.deepEqual([first?.sha, first?.description], [queued, forge.statusesOf(head).get(context)?.description]);
  assert.deepEqual(forge.comments.map(({ number }) => number).toSorted(), [10, 9]);

  forge.queue.clear();
  const { checks } = await check();
  assert.ok(!checks.some((one) => one.head === queued), 'what left the queue is forgotten');
});

test('a queue that can not be read keeps no request from its check, and is told', async () => {
  await using stage = await setStage({ checks: { mergeQueue: 'Enabled' } });
  const head = await stage.open(9, { 'c/stock.yaml': clusterYaml('stock') });
  stage.forge.breakWith({ kind: 'status', status: 403, at: 'matching-refs' });
  const { failure } = await stage.check();
  assert.equal(stage.forge.statusesOf(head).get(context)?.state, 'success');
  assert.equal(failure?.reason, 'ForgeForbidden');
});

test('a fleet without checks.mergeQueue asks for no queue', async () => {
  await using stage = await setStage();
  await stage.open(9, { 'c/stock.yaml': clusterYaml('stock') });
  await stage.check();
  assert.ok(!stage.forge.requests.some(({ url }) => url.includes('matching-refs')));
});

test('what a request added and took back is taken back from a target that has it by now', async () => {
  await using stage = await setStage({ prune: true });
  const { forge, repository, check } = stage;
  const added = await stage.open(9, { 'c/stock.yaml': clusterYaml('stock') });
  const head = await repository.commit({ 'c/stock.yaml': undefined }, { branch: 'request-9', keep: true });
  Object.assign(forge.pulls[0] ?? {}, { headSha: head });
  await check();
  assert.deepEqual([...forge.statusesOf(head)], []);
  await repository.git('update-ref', 'refs/heads/main', added);
  await stage.scene.pass();
  await check();
  assert.match(forge.statusesOf(head).get(context)?.description ?? '', /^stock: deleted$/);
});

test('what was told of a request that touches nothing any more does not stay', async () => {
  await using stage = await setStage();
  const { forge, repository, check } = stage;
  const merged = await stage.open(7, { 'c/stock.yaml': clusterYaml('stock', { replicas: -1 }) });
  const head = await repository.commit({ README: 'more\n' }, { branch: 'request-7', keep: true });
  Object.assign(forge.pulls[0] ?? {}, { headSha: head });
  await check();
  assert.equal(forge.statusesOf(head).get(context)?.state, 'failure');
  await repository.git('update-ref', 'refs/heads/main', merged);
  assert.equal((await check()).failure, undefined);
  const { state, description } = forge.statusesOf(head).get(context) ?? {};
  assert.deepEqual([state, description], ['success', 'changes nothing under c']);
  const said = forge.statuses.length;
  await check();
  assert.equal(forge.statuses.length, said, 'and is told once');
});

test('it is checked again when its target moves or a touched cluster changes', async () => {
  await using stage = await setStage();
  const { forge, scene, check } = stage;
  const head = await stage.open(9, { 'c/orders.yaml': clusterYaml('orders', { replicas: 5 }) });
  await check();
  const told = forge.statuses.length;
  await stage.repository.commit({ 'c/late.yaml': clusterYaml('late') }, { keep: true });
  const [again] = (await check()).checks;
  assert.equal(again?.target, await stage.repository.git('rev-parse', 'main'));
  assert.equal(forge.statuses.length, told, 'the verdict is the same');

  const git = () => scene.git.requests.length;
  let before = git();
  const touch = async (name: string) => {
    const live = scene.cluster(name);
    const status = { observedGeneration: 1, version: '3.6.16' } as NonNullable<EtcdCluster['status']>;
    await scene.fake.updateStatus(resources.clusters, { ...(live ?? assert.fail()), status });
  };
  await touch('ads');
  await check();
  assert.equal(git(), before, 'ads is none of its business');
  await touch('orders');
  before = git();
  await check();
  assert.notEqual(git(), before);
  assert.equal(forge.statusesOf(head).size, 1);
});

test('a closed request is forgotten, and its report goes', async () => {
  await using stage = await setStage();
  await stage.open(10, { 'c/stock.yaml': clusterYaml('stock') });
  await stage.open(11, { 'c/other.yaml': clusterYaml('other') });
  await stage.check();
  assert.equal(stage.reports().length, 2);
  stage.forge.pulls.shift();
  const { checks } = await stage.check();
  assert.deepEqual(
    checks.map(({ number }) => number),
    ['10'],
  );
  assert.deepEqual(
    stage.reports().map(({ report }) => report.request?.number),
    ['10'],
  );
});

test('the comment is written once and kept up to date', async () => {
  await using stage = await setStage();
  await stage.open(12, { 'c/stock.yaml': clusterYaml('stock') });
  await stage.check();
  await stage.open(12, { 'c/stock.yaml': clusterYaml('stock', { replicas: 1 }) });
  await stage.check();
  await stage.check();
  assert.equal(stage.forge.comments.length, 1);
  assert.match(stage.forge.comments[0]?.body ?? '', /^<!-- etcd-ratchet plan.*\+1 member/s);
});

test('where the fleet wants no comment there is none', async () => {
  await using stage = await setStage({ checks: { comments: 'Disabled' } });
  const head = await stage.open(12, { 'c/stock.yaml': clusterYaml('stock') });
  await stage.check();
  assert.equal(stage.forge.comments.length, 0);
  assert.equal(stage.forge.statusesOf(head).get(context)?.state, 'success');
});

test('a failing forge is named on the fleet; when it is back, it is told the rest', async () => {
  await using stage = await setStage();
  const head = await stage.open(13, { 'c/stock.yaml': clusterYaml('stock') });
  stage.forge.breakWith({ kind: 'status', status: 403, message: 'Resource not accessible' });
  const { failure } = await stage.check({ seconds: 8 });
  assert.equal(failure?.reason, 'ForgeForbidden');
  assert.ok(failure?.message.includes('HTTP 403') && !/accessible|forge-secret/.test(failure.message));
  const told = stage.scene.fleet().status?.conditions?.find(({ type }) => type === 'RequestsChecked');
  assert.equal(told?.status, 'False');
  stage.forge.breakWith(undefined);
  assert.equal((await stage.check()).failure, undefined);
  assert.equal(stage.forge.statusesOf(head).get(context)?.state, 'success');
});

test('a status that the forge will not have is told of once, and not sent in every pass', async () => {
  await using stage = await setStage();
  await stage.open(14, { 'c/stock.yaml': clusterYaml('stock') });
  const message = '404 References for commit Not Found';
  stage.forge.breakWith({ kind: 'status', status: 404, message, only: 'POST' });
  assert.equal((await stage.check()).failure?.reason, 'StatusRejected');
  const posted = () => stage.forge.requests.filter(({ method }) => method === 'POST').length;
  const before = posted();
  assert.equal((await stage.check()).failure, undefined);
  assert.equal(posted(), before);
  assert.equal(stage.reports().length, 1, 'the report is kept all the same');
});

test('a hostile request stops neither the others nor the pass', async () => {
  await using stage = await setStage({ checks: { forks: 'Enabled' } });
  const good = await stage.open(20, { 'c/stock.yaml': clusterYaml('stock') });
  const nowhere = 'f'.repeat(40);
  stage.forge.pulls.unshift({
    number: 21,
    title: '![x](http://evil.example.com) @everybody',
    headSha: nowhere,
    fork: true,
  });
  const orphan = await stage.repository.commit({ 'c/x.yaml': clusterYaml('x') }, { branch: 'orphan', orphan: true });
  stage.forge.pulls.unshift({ number: 22, title: 'unrelated', headSha: orphan });
  const bomb = `a: &a [x,x]\n${'b: [*a,*a,*a]\n'.repeat(200)}kind: EtcdCluster\n`;
  const bombed = await stage.open(
    23,
    { 'c/bomb.yaml': bomb, 'c/deep.yaml': `kind: EtcdCluster\nx: ${'['.repeat(50_000)}` },
    { fork: true },
  );
  const emptied = await stage.open(24, { 'c/orders.yaml': undefined, 'c/ads.yaml': undefined });
  const { failure } = await stage.check();
  assert.equal(failure, undefined);
  const state = (sha: string) => stage.forge.statusesOf(sha).get(context);
  assert.equal(state(good)?.state, 'success');
  assert.deepEqual([state(nowhere)?.state, state(orphan)?.state], ['error', 'error']);
  assert.match(state(orphan)?.description ?? '', /no history in common with main/);
  assert.equal(state(bombed)?.state, 'failure');
  assert.match(state(bombed)?.description ?? '', /^c\/bomb\.yaml:/);
  assert.match(state(emptied)?.description ?? '', /there is no c in main/);
});

test('each check is written down as begun before it is made, and what was found before that', async () => {
  await using stage = await setStage();
  await stage.open(40, { 'c/stock.yaml': clusterYaml('stock') });
  await stage.open(41, { 'c/other.yaml': clusterYaml('other') });
  const noted: string[] = [];
  await stage.check({
    recorded: (checks) => void noted.push(checks.map(({ number, state }) => `${number} ${state}`).join()),
  });
  assert.deepEqual(noted, ['40 pending', '40 success,41 pending']);
});

test('a Git server that fails costs no request its verdict', async () => {
  await using stage = await setStage();
  await stage.open(42, { 'c/stock.yaml': clusterYaml('stock') });
  const { checks } = await stage.check();
  await stage.repository.commit({ 'c/late.yaml': clusterYaml('late') }, { keep: true });
  await stage.open(43, { 'c/other.yaml': clusterYaml('other') });
  stage.scene.git.breakWith({ kind: 'status', status: 503 });
  const outage = await stage.check();
  assert.equal(outage.failure?.reason, 'ServerFailing');
  assert.deepEqual(outage.checks, checks);
});

test('in a pass, no follow-up waits for checks, and a hanging forge costs only its own time', async () => {
  await using stage = await setStage();
  const { scene, forge } = stage;
  const still = (name: string, replicas = 3) => clusterYaml(name, { replicas, extra: ', suspend: true' });
  await stage.repository.commit({ 'c/orders.yaml': still('orders'), 'c/ads.yaml': still('ads') });
  for (let passes = 0; passes < 3; passes++) await wholePass(scene);
  const head = await stage.open(50, { 'c/orders.yaml': still('orders', 5) });
  forge.breakWith({ kind: 'hang' });
  const started = performance.now();
  let news = Number.POSITIVE_INFINITY;
  const onNews = async () => {
    news = performance.now() - started;
  };
  const { fleets } = await wholePass(scene, { onNews });
  const whole = performance.now() - started;
  assert.ok(news < 3_000 && whole > news + 3_000, `told after ${news} ms, of ${whole}`);
  const condition = fleets[0]?.fleet.status?.conditions?.find(({ type }) => type === 'RequestsChecked');
  assert.deepEqual([condition?.status, condition?.reason], ['False', 'Timeout']);

  forge.breakWith(undefined);
  const follow = await wholePass(scene, { followUp: true });
  assert.equal(follow.fleets[0]?.fleet.status?.checks, undefined, 'a follow-up asks for no requests');
  await wholePass(scene);
  assert.equal(forge.statusesOf(head).get(context)?.state, 'success');
  const [kept] = scene.fleet().status?.checks ?? [];
  assert.deepEqual([kept?.number, kept?.state, kept?.sent], ['50', 'success', true]);
  const told = forge.statuses.length;
  const before = scene.fleet().status;
  await wholePass(scene);
  assert.equal(forge.statuses.length, told);
  assert.deepEqual({ ...scene.fleet().status, lastRun: '' }, { ...before, lastRun: '' }, 'and nothing is written anew');
});

test('a stranger learns nothing of a Secret that only his document names', async () => {
  await using stage = await setStage({ checks: { forks: 'Enabled' } });
  const { fake } = stage.scene;
  fake.seed(resources.secrets, {
    metadata: { namespace: 'payments', name: 'crown-jewels' },
    ...{ data: { 'tls.crt': Buffer.from('not a certificate').toString('base64') } },
  });
  const names = ['peerSecretName', 'serverSecretName', 'clientSecretName'].map((field) => `${field}: crown-jewels`);
  const nosy = clusterYaml('nosy').replace(
    'tls: {mode: Disabled}',
    `tls: {mode: Provided, provided: {${names.join(', ')}}}`,
  );
  await stage.open(30, { 'c/nosy.yaml': nosy }, { fork: true });
  const before = fake.journal().length;
  await stage.check();
  const read = fake
    .journal()
    .slice(before)
    .filter(({ resource }) => resource.plural === 'secrets');
  assert.deepEqual(
    read.map(({ name }) => name),
    ['forge'],
  );
  assert.equal(stage.reports()[0]?.report.state, 'success');
  assert.ok(!stage.reports().some(({ markdown }) => markdown.includes('not a certificate')));
});

test('a cluster that the fleet may not touch is not read, whichever document names it', async () => {
  const before = ({ dryRun, namespace }: FakeRequest) => {
    if (!dryRun || namespace !== 'others') return;
    const message = 'User "system:serviceaccount:platform:fleet" cannot patch resource "etcdclusters"';
    throw new KubeError(message, { class: 'terminal', status: 403, reason: 'Forbidden' });
  };
  await using stage = await setStage({ checks: { forks: 'Enabled' } }, { before });
  const { metadata, ...orders } = stage.scene.cluster('orders') ?? assert.fail();
  const theirs = { name: 'theirs', namespace: 'others', uid: 'theirs', generation: 1 };
  stage.scene.fake.seed(resources.clusters, { ...orders, metadata: theirs } satisfies EtcdCluster);
  assert.ok(metadata.uid);
  await stage.open(
    34,
    { 'c/x.yaml': clusterYaml('theirs', { replicas: 1 }).replace('payments', 'others') },
    { fork: true },
  );
  await stage.check();
  const [kept] = stage.reports();
  assert.deepEqual([kept?.report.state, kept?.report.clusters], ['failure', []]);
});

test('what the API server would refuse fails, at the field that it names', async () => {
  await using stage = await setStage({}, { before: refuse });
  const bad = await stage.open(31, { 'c/stock.yaml': clusterYaml('stock') });
  await stage.check();
  const said = stage.forge.statusesOf(bad).get(context);
  assert.equal(said?.state, 'failure');
  assert.match(said?.description ?? '', /^c\/stock\.yaml:4:54: .*stock is refused by the API server: .*quota says no/);

  const foreign = await stage.open(32, { 'c/foreign.yaml': clusterYaml('foreign') });
  await stage.check();
  assert.match(
    stage.forge.statusesOf(foreign).get(context)?.description ?? '',
    /service account platform\/fleet may not patch/,
  );

  const late = await stage.open(33, { 'c/late.yaml': clusterYaml('late') });
  await stage.check();
  assert.deepEqual(stage.forge.statusesOf(late).get(context)?.state, 'error', 'no answer is nobody’s fault');

  function refuse({ name, dryRun }: FakeRequest): void {
    if (!dryRun) return;
    const no = { class: 'terminal', status: 422, reason: 'Invalid' } as const;
    if (name === 'stock') throw new KubeError('spec.storage.size: Invalid value: "1Gi": the quota says no', no);
    const may = 'User "system:serviceaccount:platform:fleet" cannot patch resource "etcdclusters"';
    if (name === 'foreign') throw new KubeError(may, { class: 'terminal', status: 403, reason: 'Forbidden' });
    if (name === 'late') throw new KubeError('no answer', { class: 'retryable', reason: 'Timeout' });
  }
});
