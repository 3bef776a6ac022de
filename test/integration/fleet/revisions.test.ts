import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations } from '../../../manifests/render/names.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

const revisionOf = (sha: string) => `main@sha1:${sha}`;
const applied = (scene: Scene) => scene.fleet().status?.revision?.applied;
const replicas = (scene: Scene) => scene.cluster('orders')?.spec.replicas;

test('a branch that is reset to an older commit, and set forward again, is followed each time', async () => {
  await using scene = await setScene();
  const first = await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 1 }) });
  const fleet = scene.addFleet('production');
  assert.ok(fleet);
  await scene.pass();
  const second = await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 3 }) });
  await scene.pass();
  const seen: string[] = [];
  for (const [sha, size] of [
    [first, 1],
    [second, 3],
    [first, 1],
    [second, 3],
  ] as const) {
    await scene.repository.git('update-ref', 'refs/heads/main', sha);
    await scene.pass();
    assert.equal(applied(scene), revisionOf(sha));
    assert.equal(replicas(scene), size);
    seen.unshift(revisionOf(sha));
  }
  const history = scene.fleet().status?.history ?? [];
  assert.deepEqual(
    history.map(({ revision, outcome }) => [revision, outcome]),
    [...seen, revisionOf(second), revisionOf(first)].map((revision) => [revision, 'Applied']),
  );
});

test('a rewritten history without the commit that is live is just another revision', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders', { replicas: 1 }) });
  scene.addFleet('production');
  await scene.pass();
  const rewritten = await scene.repository.commit(
    { 'a.yaml': clusterYaml('orders', { replicas: 5 }) },
    { orphan: true },
  );
  await scene.repository.git('reflog', 'expire', '--expire=now', '--all');
  await scene.repository.git('gc', '-q', '--prune=now');
  await scene.pass();
  assert.equal(applied(scene), revisionOf(rewritten));
  assert.equal(replicas(scene), 5);
});

test('passes without changes leave the history alone; a refused commit and its fix are in it', async () => {
  await using scene = await setScene();
  const good = await scene.repository.commit({ 'a.yaml': clusterYaml('orders') });
  scene.addFleet('production');
  await scene.pass();
  const before = scene.fleet().status?.history;
  await scene.pass();
  assert.deepEqual(scene.fleet().status?.history, before);
  const bad = await scene.repository.commit({ 'a.yaml': clusterYaml('orders').replace('3.6.16', 'latest') });
  await scene.pass();
  await scene.repository.git('update-ref', 'refs/heads/main', good);
  await scene.pass();
  assert.deepEqual(
    scene.fleet().status?.history?.map(({ revision, outcome }) => `${revision.slice(-40)} ${outcome}`),
    [`${good} Applied`, `${bad} Refused`, `${good} Applied`],
  );
});

/** Requests for data, as against questions which commit a ref names. */
const fetches = (scene: Scene) => scene.git.requests.filter(({ method }) => method === 'POST').length;
const patches = (scene: Scene) => scene.fake.journal().filter(({ key }) => key === 'PATCH etcdclusters').length;

test('the annotation reconcile makes a fleet fetch and apply all, once, and is answered', async () => {
  await using scene = await setScene({}, ['asFewRequests']);
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders') });
  scene.addFleet('production');
  await scene.pass();
  for (const value of ['now', '', 'ü'.repeat(300), 'now']) {
    const [fetched, patched] = [fetches(scene), patches(scene)];
    await scene.annotateFleet('production', annotations.reconcile, value);
    await scene.pass();
    assert.deepEqual([fetches(scene) - fetched, patches(scene) - patched], [1, 1], value);
    assert.equal(scene.fleet().status?.lastHandledReconcileAt, value.slice(0, 253));
    await scene.pass();
    assert.equal(fetches(scene) - fetched, 1, 'an answered request is not answered again');
  }
});

test('while Git does not answer, a request stays unanswered; a follow-up takes it up, too', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders') });
  scene.addFleet('production');
  await scene.pass();
  await scene.annotateFleet('production', annotations.reconcile, '17:50');
  scene.git.breakWith({ kind: 'status', status: 503 });
  await scene.pass();
  assert.equal(scene.fleet().status?.lastHandledReconcileAt, undefined);
  scene.git.breakWith(undefined);
  await scene.pass('production', { followUp: true });
  assert.equal(scene.fleet().status?.lastHandledReconcileAt, '17:50');
});

test('a suspended fleet is not looked at, also when asked to, and does not say that it was', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders') });
  scene.addFleet('production', { suspend: true });
  await scene.annotateFleet('production', annotations.reconcile, 'now');
  await scene.pass();
  assert.equal(scene.git.requests.length, 0);
  assert.equal(scene.fleet().status?.lastHandledReconcileAt, undefined);
});
