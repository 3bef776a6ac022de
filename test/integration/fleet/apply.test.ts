import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { labels } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { clusterYaml, setScene } from './scene.ts';

test('a push becomes a cluster that bears its owner, its file and nothing of the commit', async () => {
  await using scene = await setScene();
  const sha = await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  const fleet = scene.addFleet('production');
  await scene.pass();

  const orders = scene.cluster('orders');
  assert.equal(orders?.metadata.labels?.[labels.fleet], fleet.metadata.uid);
  assert.deepEqual(orders?.metadata.annotations, {
    'etcd.ratchet.dev/fleet-name': 'platform/production',
    'etcd.ratchet.dev/source': 'orders.yaml',
  });
  const { status } = scene.fleet();
  assert.deepEqual(status?.revision, { attempted: `main@sha1:${sha}`, applied: `main@sha1:${sha}` });
  assert.deepEqual(status?.inventory, [
    { namespace: 'payments', name: 'orders', uid: orders?.metadata.uid, generation: 1, source: 'orders.yaml' },
  ]);
  assert.equal(status?.observedGeneration, 1);
  assert.deepEqual(status?.source, { url: scene.repository.url, ref: 'main', path: '.' });
});

test('a pass over what did not change asks Git once and writes nothing but the time of its run', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  scene.addFleet('production');
  await scene.pass();
  const [requests, journal] = [scene.git.requests.length, scene.fake.journal().length];
  await scene.pass();
  assert.equal(scene.git.requests.length - requests, 1);
  assert.deepEqual(
    scene.fake
      .journal()
      .slice(journal)
      .filter(({ verb }) => verb !== 'LIST')
      .map(({ key }) => key),
    ['PUT etcdfleets/status'],
  );
});

test('a cluster edited by hand and one deleted by hand come back', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'a.yaml': `${clusterYaml('orders')}---\n${clusterYaml('users')}` });
  scene.addFleet('production');
  await scene.pass();
  scene.fake.remove(
    { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster', plural: 'etcdclusters' },
    'payments',
    'orders',
  );
  await scene.pass();
  assert.equal(scene.cluster('orders')?.spec.replicas, 3);
});

test('one bad document fails its cluster with file, line and column, and stops no other', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  scene.addFleet('production');
  await scene.pass();
  const before = scene.cluster('orders');
  await scene.repository.commit({
    'orders.yaml': clusterYaml('orders').replace('3.6.16', 'latest'),
    'users.yaml': clusterYaml('users'),
  });
  await scene.pass();
  assert.ok(scene.cluster('users'));
  assert.deepEqual(scene.cluster('orders'), before);
  const { status } = scene.fleet();
  assert.match(conditionOf(status, 'Stalled')?.message ?? '', /^orders\.yaml:4:30: .*latest/);
  assert.notEqual(status?.revision?.applied, status?.revision?.attempted);
  // Mended by the next commit.
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders'), 'users.yaml': clusterYaml('users') });
  await scene.pass();
  assert.equal(scene.fleet().status?.problems, undefined);
  assert.equal(conditionOf(scene.fleet().status, 'Stalled'), undefined);
});

test('while one document stays broken, the good ones are not applied again and again', async () => {
  await using scene = await setScene();
  await scene.repository.commit({
    'a.yaml': clusterYaml('orders'),
    'b.yaml': 'kind: EtcdClutser\napiVersion: etcd.ratchet.dev/v1alpha1\n',
  });
  scene.addFleet('production');
  await scene.pass();
  const written = scene.fake.journal().length;
  await scene.pass();
  const writes = scene.fake
    .journal()
    .slice(written)
    .filter(({ resource, verb }) => resource.plural === 'etcdclusters' && verb !== 'LIST');
  assert.deepEqual(writes, []);
});

test('a namespace that the service account may not touch is named, and stops no other', async () => {
  await using scene = await setScene({
    authorize: ({ user, namespace }) => user === undefined || namespace !== 'secret-stuff',
  });
  await scene.repository.commit({
    'a.yaml': clusterYaml('orders').replace('namespace: payments', 'namespace: secret-stuff'),
    'b.yaml': clusterYaml('users'),
  });
  scene.addFleet('production');
  await scene.pass();
  assert.ok(scene.cluster('users'));
  const { problems } = scene.fleet().status ?? {};
  assert.equal(problems?.[0]?.file, 'a.yaml');
  assert.match(problems?.[0]?.message ?? '', /secret-stuff\/orders is forbidden|may not/);
});

for (const [what, fault, reason] of [
  ['hangs', { kind: 'hang' }, /^(Aborted|Timeout)$/],
  ['answers nonsense', { kind: 'nonsense' }, /^BadAnswer$/],
  ['wants a login', { kind: 'status', status: 401 }, /^AuthenticationFailed$/],
] as const) {
  test(`a Git server that ${what} changes nothing, and the fleet says so`, async () => {
    await using scene = await setScene();
    await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
    scene.addFleet('production');
    await scene.pass();
    const before = scene.cluster('orders');
    scene.git.breakWith(fault);
    await scene.pass('production', { gitMs: 500 });
    assert.deepEqual(scene.cluster('orders'), before);
    const source = conditionOf(scene.fleet().status, 'SourceReady');
    assert.equal(source?.status, 'False');
    assert.match(source?.reason ?? '', reason);
    scene.git.breakWith(undefined);
    await scene.pass();
    assert.equal(conditionOf(scene.fleet().status, 'SourceReady')?.status, 'True');
  });
}

test('a spec that changed while Git could not be read is not taken for read when Git is back', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  scene.addFleet('production');
  await scene.pass();
  const { spec } = scene.fleet();
  const elsewhere = { ...scene.fleet(), spec: { ...spec, git: { ...spec.git, path: 'nowhere' } } };
  await scene.fake.update<EtcdFleet>(resources.fleets, elsewhere);
  scene.git.breakWith({ kind: 'status', status: 401 });
  await scene.pass('production', { gitMs: 500 });
  scene.git.breakWith(undefined);
  for (let passes = 0; passes < 2; passes++) {
    await scene.pass();
    assert.equal(conditionOf(scene.fleet().status, 'SourceReady')?.reason, 'PathNotFound', `pass ${passes}`);
  }
});

test('a suspended fleet does not ask Git, and says so', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  scene.addFleet('production', { suspend: true });
  await scene.pass();
  assert.equal(scene.git.requests.length, 0);
  assert.equal(conditionOf(scene.fleet().status, 'Ready')?.reason, 'Suspended');
});

test('a dry run tells what it would do and touches nothing', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  scene.addFleet('production');
  const result = await scene.pass('production', { dryRun: true });
  assert.deepEqual(result.kind === 'done' && result.planned, ['create payments/orders']);
  assert.ok(scene.fake.journal().every(({ verb }) => verb === 'LIST' || verb === 'GET'));
});
