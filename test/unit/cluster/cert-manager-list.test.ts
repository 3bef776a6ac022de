import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withDefaults } from '../../../manifests/api/defaults.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { TlsMode } from '../../../manifests/api/tls-settings.ts';
import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { certificateResource } from '../../../manifests/render/cert-manager-certificate.ts';
import { labelsOf } from '../../../manifests/render/names.ts';
import { issuanceStatement } from '../../../reconcile/cluster/know/certificates/issuance.ts';
import { listRequested } from '../../../reconcile/cluster/observe/certificates/requested.ts';
import { KubeError } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKubeOptions } from '../../support/fakes/kube.ts';

const options = { namespaces: ['shop'], signal: AbortSignal.timeout(10_000) };

function clusterOf(name: string, mode: TlsMode): EtcdCluster {
  const tls = { mode, ...(mode === 'CertManager' && { certManager: { issuerRef: { name: 'company' } } }) };
  const spec = { replicas: 1, version: '3.6.16', storage: { size: '1Gi' }, tls };
  const metadata = { name, namespace: 'shop' };
  return withDefaults({ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster', metadata, spec });
}

function without(...clusters: readonly EtcdCluster[]) {
  return clusters.map((cluster) => ({ cluster, volumeClaims: [] }));
}

test('without a cluster in mode CertManager, Certificates are not listed', async () => {
  const kube = createFakeKube({ serves: () => false });
  const plain = clusterOf('plain', 'Managed');
  const requested = await listRequested(kube, without(plain), options);
  assert.deepEqual(requested(plain), { kind: 'unasked' });
  assert.deepEqual(kube.journal(), []);
});

test('one LIST for all, and each cluster gets its own', async () => {
  const kube = createFakeKube();
  const [a, b, plain] = [clusterOf('a', 'CertManager'), clusterOf('b', 'CertManager'), clusterOf('c', 'Managed')];
  const certificate = (cluster: string, name: string, namespace = 'shop') => ({
    metadata: { name, namespace, labels: labelsOf(cluster) },
  });
  kube.seed(certificateResource, certificate('a', 'one'), certificate('b', 'two'), certificate('a', 'three', 'bank'));
  const requested = await listRequested(kube, without(a, b, plain), { signal: options.signal });
  const names = (cluster: EtcdCluster) => {
    const found = requested(cluster);
    return found.kind === 'known' ? found.items.map(({ metadata }) => metadata.name) : found.kind;
  };
  assert.deepEqual([names(a), names(b), names(plain)], [['one'], ['two'], 'unasked']);
  assert.deepEqual(
    kube.journal().map(({ key }) => key),
    ['LIST certificates'],
  );
});

test('a cluster that was born with cert-manager is asked for, whatever its spec says by now', async () => {
  const kube = createFakeKube();
  const born = clusterOf('born', 'Managed');
  const volume = {
    metadata: { name: 'born-0', annotations: { 'etcd.ratchet.dev/tls-mode': 'CertManager' } },
    spec: { accessModes: [], resources: { requests: {} } },
  } as PersistentVolumeClaim;
  const requested = await listRequested(kube, [{ cluster: born, volumeClaims: [volume] }], options);
  assert.deepEqual(requested(born), { kind: 'known', items: [] });
});

const outage = () => {
  throw new KubeError('LIST certificates: no answer', { class: 'retryable', reason: 'Timeout' });
};
for (const [what, kubeOptions, reason, cure] of [
  ['the kind is not there', { serves: () => false }, 'CertManagerNotInstalled', /install cert-manager/],
  ['listing is forbidden', { authorize: () => false }, 'CertManagerForbidden', /components\/cert-manager/],
  ['nobody answers', { before: outage }, 'CertManagerUnreachable', undefined],
] as const satisfies readonly (readonly [string, FakeKubeOptions, string, RegExp | undefined])[]) {
  test(`${what}: ${reason}, as a value`, async () => {
    const cluster = clusterOf('a', 'CertManager');
    const requested = await listRequested(createFakeKube(kubeOptions), without(cluster), options);
    const found = requested(cluster);
    assert.equal(found.kind, 'unknown');
    assert.equal(found.kind === 'unknown' && found.reason, reason);
    if (cure) assert.match((found.kind === 'unknown' && found.cure) || '', cure);
    else assert.equal(found.kind === 'unknown' && found.cure, undefined, 'it may pass by itself');
  });
}

test('what keeps Certificates from being listed is what the condition says', () => {
  const certManager = {
    kind: 'unknown',
    reason: 'CertManagerForbidden',
    message: 'not allowed',
    cure: 'allow it',
  } as const;
  const statement = issuanceStatement(
    { cluster: clusterOf('a', 'CertManager'), at: new Date() },
    { kind: 'read', authorities: {}, leaves: [], certManager },
  );
  assert.deepEqual(statement, {
    status: 'False',
    reason: 'CertManagerForbidden',
    message: 'not allowed. To go on: allow it',
  });
});

test('what is no answer of the API server is no excuse', async () => {
  const kube = createFakeKube({
    before: () => {
      throw new TypeError('a bug of ours');
    },
  });
  await assert.rejects(listRequested(kube, without(clusterOf('a', 'CertManager')), options), TypeError);
});
