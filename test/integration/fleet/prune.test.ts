import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

const three = { 'a.yaml': clusterYaml('orders'), 'b.yaml': clusterYaml('users'), 'c.yaml': clusterYaml('carts') };
const names = (scene: Scene) => scene.clusters().map(({ metadata }) => metadata.name);
const unlisted = (scene: Scene) => conditionOf(scene.fleet().status, 'Unlisted');

async function applied(prune: boolean, spec: Parameters<Scene['addFleet']>[1] = {}): Promise<Scene> {
  const scene = await setScene();
  await scene.repository.commit(three);
  scene.addFleet('production', { prune, ...spec });
  await scene.pass();
  return scene;
}

test('with pruning off, a cluster that Git no longer lists stays, and the fleet says so', async () => {
  await using scene = await applied(false);
  await scene.repository.commit({ 'a.yaml': three['a.yaml'], 'b.yaml': three['b.yaml'] });
  await scene.pass();
  assert.deepEqual(names(scene), ['carts', 'orders', 'users']);
  assert.equal(unlisted(scene)?.reason, 'PruneOff');
  assert.match(unlisted(scene)?.message ?? '', /payments\/carts/);
  // And that is a settled state: nothing is fetched again.
  const before = scene.git.requests.length;
  await scene.pass();
  assert.equal(scene.git.requests.length - before, 1);
  assert.equal(unlisted(scene)?.reason, 'PruneOff');
});

test('with pruning on, one cluster whose file is gone is deleted', async () => {
  await using scene = await applied(true);
  await scene.repository.commit({ 'a.yaml': three['a.yaml'], 'b.yaml': three['b.yaml'] });
  await scene.pass();
  assert.deepEqual(names(scene), ['orders', 'users']);
  assert.equal(unlisted(scene), undefined);
});

test('several at once are deleted only after a confirmation bound to the commit and to the set', async () => {
  await using scene = await applied(true);
  const sha = await scene.repository.commit({ 'a.yaml': three['a.yaml'] });
  await scene.pass();
  assert.equal(names(scene).length, 3);
  assert.equal(conditionOf(scene.fleet().status, 'Stalled')?.reason, 'PruneNeedsConfirmation');
  const message = unlisted(scene)?.message ?? '';
  const [approval, ...more] = scene.fleet().status?.approvals ?? [];
  assert.deepEqual([approval?.annotation, more], ['etcd.ratchet.dev/confirm-prune', []]);
  assert.match(approval?.approves ?? '', /orders|users/);
  const confirmation = approval?.value ?? '';
  assert.ok(message.endsWith(`confirm-prune=${confirmation}`), message);
  assert.ok(confirmation.startsWith(`${sha}/`), message);

  await scene.annotateFleet('production', 'etcd.ratchet.dev/confirm-prune', `${sha}/000000000000`);
  await scene.pass();
  assert.equal(names(scene).length, 3);
  await scene.annotateFleet('production', 'etcd.ratchet.dev/confirm-prune', confirmation);
  await scene.pass();
  assert.deepEqual(names(scene), ['orders']);
  assert.equal(scene.fleet().status?.approvals, undefined, 'what was confirmed is asked no more');
});

test('a document that protects its object keeps it, or asks, when it goes', async () => {
  await using scene = await applied(true);
  const marked = (name: string, word: string) =>
    clusterYaml(name).replace('metadata: {', `metadata: {annotations: {etcd.ratchet.dev/prune: ${word}}, `);
  const files = {
    'a.yaml': three['a.yaml'],
    'b.yaml': marked('users', 'disabled'),
    'c.yaml': marked('carts', 'confirm'),
  };
  await scene.repository.commit(files);
  await scene.pass();
  await scene.repository.commit({ 'a.yaml': files['a.yaml'], 'c.yaml': files['c.yaml'] });
  await scene.pass();
  assert.deepEqual(names(scene), ['carts', 'orders', 'users']);
  assert.equal(unlisted(scene)?.reason, 'PruneDisabled');
  assert.match(
    unlisted(scene)?.message ?? '',
    /payments\/users: the annotation etcd\.ratchet\.dev\/prune protects them/,
  );
  assert.equal(conditionOf(scene.fleet().status, 'Stalled'), undefined);

  await scene.repository.commit({ 'a.yaml': files['a.yaml'] });
  await scene.pass();
  assert.deepEqual(names(scene), ['carts', 'orders', 'users']);
  assert.equal(conditionOf(scene.fleet().status, 'Stalled')?.reason, 'PruneNeedsConfirmation');
  const [approval] = scene.fleet().status?.approvals ?? [];
  assert.match(approval?.approves ?? '', /^this is deleted, which Git no longer lists: payments\/carts$/);
  await scene.annotateFleet('production', 'etcd.ratchet.dev/confirm-prune', approval?.value ?? '');
  await scene.pass();
  assert.deepEqual(names(scene), ['orders', 'users']);

  await scene.repository.commit({ 'a.yaml': files['a.yaml'], 'b.yaml': three['b.yaml'] });
  await scene.pass();
  await scene.repository.commit({ 'a.yaml': files['a.yaml'] });
  await scene.pass();
  assert.deepEqual(names(scene), ['orders'], 'listed once without it, and then removed');
});

test('a typing error in a kind deletes nothing, in the same file or elsewhere', async () => {
  await using scene = await applied(true);
  await scene.repository.commit({
    ...three,
    'b.yaml': three['b.yaml'].replace('kind: EtcdCluster', 'kind: EtcdClutser'),
  });
  await scene.pass();
  assert.equal(names(scene).length, 3);
  await scene.repository.commit({
    'a.yaml': three['a.yaml'],
    'renamed.yaml': three['b.yaml'].replace('kind: EtcdCluster', 'kind: EtcdClutser'),
    'c.yaml': three['c.yaml'],
  });
  await scene.pass();
  assert.equal(names(scene).length, 3);
  assert.equal(scene.fleet().status?.problems?.[0]?.file, 'renamed.yaml');
});

test('a document that leaves a file which stays deletes nothing', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'all.yaml': `${clusterYaml('orders')}---\n${clusterYaml('users')}` });
  scene.addFleet('production', { prune: true });
  await scene.pass();
  await scene.repository.commit({ 'all.yaml': clusterYaml('orders') });
  await scene.pass();
  assert.deepEqual(names(scene), ['orders', 'users']);
  assert.equal(unlisted(scene)?.reason, 'FileStillThere');
});

test('an empty tree deletes nothing', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'a.yaml': clusterYaml('orders') });
  scene.addFleet('production', { prune: true });
  await scene.pass();
  await scene.repository.commit({ 'README.md': 'nothing here' });
  await scene.pass();
  assert.deepEqual(names(scene), ['orders']);
  assert.equal(unlisted(scene)?.reason, 'TreeEmpty');
});

test('a tree that can not be read changes nothing and deletes nothing', async () => {
  await using scene = await applied(true);
  await scene.repository.commit({ 'b.yaml': three['b.yaml'], 'c.yaml': clusterYaml('carts', { replicas: 5 }) });
  scene.git.breakWith({ kind: 'truncate', keep: 0.5 });
  await scene.pass();
  assert.equal(names(scene).length, 3);
  assert.equal(scene.cluster('carts')?.spec.replicas, 3);
  assert.equal(conditionOf(scene.fleet().status, 'SourceReady')?.status, 'False');
});

test('a renamed path deletes nothing, also in later commits', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'old/a.yaml': clusterYaml('orders'), 'old/b.yaml': clusterYaml('users') });
  scene.addFleet('production', { prune: true, path: 'old' });
  await scene.pass();
  await scene.repository.commit({ 'new/a.yaml': clusterYaml('orders') });
  const { resources } = await import('../../../reconcile/interfaces/kube.ts');
  const fleet = scene.fleet();
  await scene.fake.update(resources.fleets, {
    ...fleet,
    spec: { ...fleet.spec, git: { ...fleet.spec.git, path: 'new' } },
  });
  await scene.pass();
  assert.deepEqual(names(scene), ['orders', 'users']);
  assert.equal(unlisted(scene)?.reason, 'SourceMoved');
  await scene.repository.commit({ 'new/a.yaml': clusterYaml('orders', { replicas: 5 }) });
  await scene.pass();
  assert.deepEqual(names(scene), ['orders', 'users']);
  // Listed in the new place: from now on it counts as from there.
  await scene.repository.commit({ 'new/a.yaml': clusterYaml('orders'), 'new/b.yaml': clusterYaml('users') });
  await scene.pass();
  assert.equal(unlisted(scene), undefined);
  await scene.repository.commit({ 'new/a.yaml': clusterYaml('orders') });
  await scene.pass();
  assert.deepEqual(names(scene), ['orders']);
});

test('two fleets that list one cluster: the first keeps it, the other says whose it is', async () => {
  await using scene = await setScene();
  await scene.repository.commit({
    'one/a.yaml': clusterYaml('orders'),
    'two/a.yaml': clusterYaml('orders', { replicas: 5 }),
  });
  const first = scene.addFleet('first', { path: 'one' });
  const second = scene.addFleet('second', { path: 'two' });
  await scene.pass('first');
  await scene.pass('second');
  assert.equal(scene.cluster('orders')?.spec.replicas, 3);
  const stalled = conditionOf(scene.fleet('second').status, 'Stalled')?.message ?? '';
  assert.match(stalled, /^two\/a\.yaml:1:1: .*belongs to fleet platform\/first.*hand-over-to=platform\/second/);
  assert.equal(scene.cluster('orders')?.metadata.labels?.['etcd.ratchet.dev/fleet'], first.metadata.uid);
  assert.equal(conditionOf(scene.fleet('first').status, 'Stalled'), undefined);
  assert.notEqual(first.metadata.uid, second.metadata.uid);
});

test('with its status removed, as by a backup tool, nothing is deleted, and the rest is named', async () => {
  await using scene = await applied(true);
  const { resources } = await import('../../../reconcile/interfaces/kube.ts');
  await scene.fake.updateStatus(resources.fleets, { ...scene.fleet(), status: { observedGeneration: -1 } });
  await scene.repository.commit({ 'a.yaml': three['a.yaml'], 'b.yaml': three['b.yaml'] });
  await scene.pass();
  assert.equal(names(scene).length, 3);
  // Without the inventory, what Git lists is proof of what is the fleet's; of the rest there is none.
  const { inventory, conditions } = scene.fleet().status ?? {};
  assert.equal(inventory?.length, 2);
  assert.match(conditions?.find(({ type }) => type === 'ForeignLabel')?.message ?? '', /payments\/c.* bears/);
});
