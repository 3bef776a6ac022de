import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitions } from '../../manifests/api/kinds.ts';
import type { KubeObject } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { migrateStorage } from '../../reconcile/storage/migrate.ts';
import { createFakeKube } from '../support/fakes/kube.ts';

const crdName = `${definitions.EtcdCluster.plural}.etcd.ratchet.dev`;

function crd(storage: string, ...storedVersions: readonly string[]): KubeObject & { readonly status: object } {
  const versions = ['v1alpha1', 'v1beta1'].map((name) => ({ name, storage: name === storage }));
  return { metadata: { name: crdName }, ...{ spec: { versions } }, status: { storedVersions } };
}

const orders = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name: 'orders', namespace: 'payments' },
};

function scene(definition: KubeObject) {
  const fake = createFakeKube();
  fake.seed(resources.customResourceDefinitions, definition);
  fake.seed(resources.clusters, orders);
  const run = async (learntAfter = 0) => {
    // The first answer brings the API server's clock.
    await fake.list(resources.clusters, {});
    const log = () => {};
    return migrateStorage({ kube: fake, signal: AbortSignal.timeout(10_000), log, learntAfter });
  };
  const writes = () => fake.journal().flatMap(({ key }) => (/^(PUT|POST|PATCH|DELETE)/.test(key) ? [key] : []));
  return { fake, run, writes };
}

test('where all objects are stored at one version, or a CRD is not installed, nothing is written', async () => {
  const { run, writes } = scene(crd('v1beta1', 'v1beta1'));
  assert.ok((await run()).every(({ outcome }) => outcome === 'nothing'));
  assert.deepEqual(writes(), []);
});

test('each object is written once, and only then what the CRD says is stored', async () => {
  const { fake, run, writes } = scene(crd('v1beta1', 'v1alpha1', 'v1beta1'));
  const moved = (await run()).filter(({ outcome }) => outcome !== 'nothing');
  assert.deepEqual(moved, [{ kind: 'EtcdCluster', outcome: 'moved', objects: 1 }]);
  assert.deepEqual(writes(), ['PUT etcdclusters', 'PUT customresourcedefinitions/status']);
  const found = await fake.get<KubeObject & { readonly status?: object }>(
    resources.customResourceDefinitions,
    undefined,
    crdName,
  );
  assert.deepEqual(found?.status, { storedVersions: ['v1beta1'] });
  assert.ok(
    (await run()).every(({ outcome }) => outcome === 'nothing'),
    'and then there is nothing to do',
  );
});

test('it takes a minute until every API server has learnt of the storage version', async () => {
  const { metadata, ...rest } = crd('v1beta1', 'v1alpha1', 'v1beta1');
  const managedFields = [{ time: new Date().toISOString() }];
  const { run, writes } = scene({ ...rest, metadata: { ...metadata, ...{ managedFields } } });
  assert.ok((await run(60_000)).some(({ outcome }) => outcome === 'waits'));
  assert.deepEqual(writes(), []);
});
