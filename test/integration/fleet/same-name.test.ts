import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetSecretLabels } from '../../../functions/pass/secret.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { setStage } from './checks-stage.ts';
import { wholePass } from './pass.ts';
import { clusterYaml } from './scene.ts';

test('two fleets of one name on one repository report to the forge under different names', async () => {
  await using stage = await setStage();
  const { scene, forge, repository } = stage;
  await repository.commit({ 'd/stock.yaml': clusterYaml('stock') }, { keep: true });
  await wholePass(scene);
  const { metadata, spec } = scene.fleet();
  const secret = { data: { token: Buffer.from('forge-secret').toString('base64') } };
  scene.fake.seed(resources.secrets, {
    metadata: { namespace: 'other', name: 'forge', labels: fleetSecretLabels },
    ...secret,
  });
  scene.fake.seed(resources.fleets, {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name: metadata.name, namespace: 'other', generation: 1 },
    spec: { ...spec, git: { ...spec.git, path: 'd' } },
  } satisfies EtcdFleet);
  const head = await stage.open(1, { 'c/orders.yaml': clusterYaml('orders', { replicas: 5 }), 'd/x.yaml': 'a: b\n' });
  await wholePass(scene);
  await wholePass(scene);

  const sha = await repository.git('rev-parse', 'main');
  assert.deepEqual([...forge.statusesOf(sha).keys()].sort(), [
    'etcd-ratchet/production',
    'etcd-ratchet/production.other',
    'etcd-ratchet/production.other/payments/stock',
    'etcd-ratchet/production/payments/ads',
    'etcd-ratchet/production/payments/orders',
  ]);
  const said = forge.statusesOf(head);
  assert.match(said.get('etcd-ratchet/production/plan')?.description ?? '', /^orders: /);
  assert.equal(said.get('etcd-ratchet/production.other/plan')?.description, 'changes no cluster');
  const other = scene.fake.stored<EtcdFleet>(resources.fleets).find((one) => one.metadata.namespace === 'other');
  const told = other?.status?.conditions?.find(({ type }) => type === 'StatusesReported');
  assert.match(told?.message ?? '', /under etcd-ratchet\/production\.other: a fleet of the same name/);
});
