import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdRestore } from '../../../manifests/api/etcd-restore.ts';
import { isRestoredBy } from '../../../manifests/render/restored-cluster.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import { firstSteps } from '../../../reconcile/stepping/loop.ts';
import { kindContext } from '../../support/kind-context.ts';
import { clusterYaml, setScene } from './scene.ts';

const restoreYaml = `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdRestore
metadata: { name: again, namespace: payments }
spec:
  from: { object: "gs://bucket/orders/1.db" }
  cluster:
    name: restored
    spec: { replicas: 3, version: 3.6.16, storage: { size: 1Gi } }
`;

test('a restore in Git runs once, however often its commit is applied', async () => {
  await using scene = await setScene();
  const files = { 'a.yaml': clusterYaml('orders'), 'b.yaml': restoreYaml };
  await scene.repository.commit(files);
  scene.addFleet('production', { prune: true });
  const passed = async () => {
    await scene.pass();
    await firstSteps('restore', kinds.restore, kindContext({ kube: scene.kube }));
  };
  await passed();
  const restores = () => scene.fake.stored<EtcdRestore>(resources.restores);
  const [restore] = restores();
  assert.equal(restore?.metadata.annotations?.['etcd.ratchet.dev/fleet-name'], 'platform/production');
  const made = scene.cluster('restored');
  assert.ok(made && isRestoredBy(made, restore?.metadata.uid ?? ''), 'made in the same pass');
  assert.equal(
    made.metadata.annotations?.['etcd.ratchet.dev/fleet-name'],
    undefined,
    'it is not the fleet of the restore',
  );

  scene.fake.remove(resources.clusters, 'payments', 'restored');
  scene.fake.remove(resources.restores, 'payments', 'again');
  await scene.repository.commit({ ...files, 'c.yaml': clusterYaml('users') });
  await passed();
  await passed();
  assert.deepEqual(restores(), [], 'it is not applied again');
  assert.equal(scene.cluster('restored'), undefined);
});
