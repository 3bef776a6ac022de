import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { fleetSecretLabels } from '../../../functions/pass/secret.ts';
import { createReader } from '../../../functions/read/reader.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { countingReceived } from '../../bench/received.ts';
import { startGitServer } from '../../support/git/server.ts';
import { wholePass } from './pass.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

/** So many questions which commits the refs name, and so many requests for data. */
function asked(requests: Scene['git']['requests']): { readonly refs: number; readonly data: number } {
  const data = requests.filter(({ method }) => method === 'POST').length;
  return { refs: requests.length - data, data };
}

test('fleets of one repository and ref are fetched once, and each sees only its path', async () => {
  await using scene = await setScene({}, ['asFewRequests']);
  const names = ['ads', 'orders', 'stock'];
  await scene.repository.commit(Object.fromEntries(names.map((name) => [`${name}/etcd.yaml`, clusterYaml(name)])));
  for (const name of names) scene.addFleet(name, { path: name });
  await wholePass(scene);
  assert.deepEqual(asked(scene.git.requests), { refs: 1, data: 1 });
  assert.deepEqual(
    names.map((name) => scene.fleet(name).status?.inventory?.map((entry) => `${entry.name} ${entry.source}`)),
    names.map((name) => [`${name} ${name}/etcd.yaml`]),
  );
  await wholePass(scene);
  assert.deepEqual(asked(scene.git.requests), { refs: 2, data: 1 }, 'and where nothing changed: one request for all');
});

test('passes that share a reader fetch only what is new since the last one', async () => {
  await using scene = await setScene({}, ['asFewRequests']);
  using received = await countingReceived(scene.repository.url);
  using reader = createReader();
  const large = Object.fromEntries(
    Array.from({ length: 100 }, (_, n) => [`media/${n}.bin`, randomBytes(1024).toString('base64')]),
  );
  await scene.repository.commit({ ...large, 'a/etcd.yaml': clusterYaml('a') });
  const passed = () =>
    received.during(async (url) => {
      if (!scene.clusters().length) scene.addFleet('a', { git: { url, ref: 'main', path: 'a' } });
      await wholePass(scene, { reader });
    });
  const whole = await passed();
  await scene.repository.commit({ 'a/more.yaml': clusterYaml('b') }, { keep: true });
  const more = await passed();
  assert.equal(scene.clusters().length, 2);
  assert.ok(more < 4_096 && whole > 50_000, `${whole} bytes, then ${more}`);
});

test('another ref is another conversation', async () => {
  await using scene = await setScene({}, ['asFewRequests']);
  await scene.repository.commit({ 'a/etcd.yaml': clusterYaml('a') });
  await scene.repository.commit({ 'b/etcd.yaml': clusterYaml('b') }, { branch: 'next' });
  scene.addFleet('a', { path: 'a' });
  scene.addFleet('b', { path: 'b', ref: 'next' });
  await wholePass(scene);
  assert.deepEqual(asked(scene.git.requests), { refs: 2, data: 2 });
  assert.deepEqual(
    scene
      .clusters()
      .map(({ metadata }) => metadata.name)
      .sort(),
    ['a', 'b'],
  );
});

test('one fleet without its path, and one with a broken document, fail alone', async () => {
  await using scene = await setScene({}, ['asFewRequests']);
  await scene.repository.commit({
    'a/etcd.yaml': clusterYaml('a'),
    'b/etcd.yaml': clusterYaml('b').replace('3.6.16', 'latest'),
  });
  for (const name of ['a', 'b', 'missing']) scene.addFleet(name, { path: name });
  await wholePass(scene);
  assert.deepEqual(asked(scene.git.requests), { refs: 1, data: 1 });
  assert.equal(scene.fleet('a').status?.history?.[0]?.outcome, 'Applied');
  assert.equal(scene.fleet('b').status?.history?.[0]?.outcome, 'Refused');
  assert.equal(conditionOf(scene.fleet('missing').status, 'SourceReady')?.reason, 'PathNotFound');
});

test("who has not the same credentials gets nothing out of another fleet's conversation", async () => {
  await using scene = await setScene({}, ['asFewRequests']);
  await using locked = await startGitServer({ auth: { token: 'right' }, needs: ['asFewRequests'] });
  const repository = await locked.createRepository('mono');
  await repository.commit({ 'a/etcd.yaml': clusterYaml('a'), 'b/etcd.yaml': clusterYaml('b') });
  for (const [name, token] of [
    ['a', 'right'],
    ['twin', 'right'],
    ['b', 'wrong'],
  ] as const) {
    const data = { token: Buffer.from(token).toString('base64') };
    scene.fake.seed(resources.secrets, {
      metadata: { namespace: 'platform', name: `git-${name}`, labels: fleetSecretLabels },
      ...{ data },
    });
    scene.addFleet(name, { git: { url: repository.url, ref: 'main', path: name, secretName: `git-${name}` } });
  }
  scene.addFleet('nobody', { git: { url: repository.url, ref: 'main', path: 'b' } });
  await wholePass(scene);
  assert.deepEqual(
    scene.clusters().map(({ metadata }) => metadata.name),
    ['a'],
  );
  for (const name of ['b', 'nobody'])
    assert.equal(conditionOf(scene.fleet(name).status, 'SourceReady')?.reason, 'AuthenticationFailed', name);
  assert.deepEqual(asked(locked.requests), { refs: 3, data: 1 }, 'the twin asked nothing of its own');
});
