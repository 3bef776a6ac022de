import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { besideForge } from './forge-scene.ts';
import { clusterYaml, setScene } from './scene.ts';

test('a hanging forge holds nothing up for long, and the fleet says that it was not told', async () => {
  await using scene = await setScene();
  await using beside = await besideForge(scene);
  const { forge, repository } = beside;
  await repository.commit({ 'a.yaml': clusterYaml('orders') });
  beside.addFleet();
  forge.breakWith({ kind: 'hang' });
  await scene.pass();
  assert.ok(scene.cluster('orders'));
  const told = conditionOf(scene.fleet().status, 'StatusesReported');
  assert.equal(told?.status, 'False');
  assert.ok(!JSON.stringify(scene.fleet()).includes('forge-secret'));

  forge.breakWith(undefined);
  await scene.pass();
  assert.equal(conditionOf(scene.fleet().status, 'StatusesReported')?.status, 'True');
  const contexts = forge.statuses.map(({ context }) => context).sort();
  assert.deepEqual(contexts, ['etcd-ratchet/production', 'etcd-ratchet/production/payments/orders']);
  const sent = forge.requests.length;
  const secrets = scene.fake.journal().filter(({ resource }) => resource.plural === 'secrets').length;
  await scene.pass();
  assert.equal(forge.requests.length, sent, 'what was sent is not sent again');
  assert.equal(scene.fake.journal().filter(({ resource }) => resource.plural === 'secrets').length, secrets);
});

test('a bad commit fails with file, line and column, and stays failed in the follow-ups', async () => {
  await using scene = await setScene();
  await using beside = await besideForge(scene);
  const { forge, repository } = beside;
  const sha = await repository.commit({ 'a.yaml': clusterYaml('orders').replace('3.6.16', 'latest') });
  beside.addFleet();
  await scene.pass();
  const statuses = forge.statusesOf(sha);
  for (const context of ['etcd-ratchet/production', 'etcd-ratchet/production/payments/orders']) {
    assert.equal(statuses.get(context)?.state, 'failure');
    assert.match(statuses.get(context)?.description ?? '', /^a\.yaml:4:30: /);
  }
  const sent = forge.requests.length;
  await scene.pass('production', { followUp: true });
  assert.equal(forge.requests.length, sent);
});
