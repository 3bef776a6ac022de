import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { inputsHash, inputsHashOf, sameInputs } from '../../../manifests/render/inputs-hash.ts';
import { podSelector } from '../../../manifests/render/names.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { peerOf, peerWithTemplate } from './build-fixtures.ts';

function podOf(peer: EtcdPeer) {
  return statefulSet(peer).spec.template;
}

function etcdOf(peer: EtcdPeer) {
  const container = podOf(peer).spec.containers.find(({ name }) => name === 'etcd');
  assert.ok(container);
  return container;
}

test('a StatefulSet has one replica, rolls only when told, and belongs to its peer', () => {
  const built = statefulSet(peerOf());
  assert.partialDeepStrictEqual(built, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'orders-1', namespace: 'payments' },
    spec: {
      replicas: 1,
      serviceName: 'orders-peers',
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
    },
  });
  assert.equal(built.metadata.ownerReferences?.[0]?.uid, 'peer-uid');
  assert.equal(inputsHashOf(built), inputsHash(peerOf().spec));
});

test("the pod carries the labels that its StatefulSet and the cluster's Services select", () => {
  const built = statefulSet(peerOf());
  const labels = built.spec.template.metadata.labels;
  for (const selector of [built.spec.selector.matchLabels, podSelector('orders')]) {
    for (const [key, value] of Object.entries(selector)) assert.equal(labels[key], value);
  }
});

test('the container reads bootstrap variables from the ConfigMap and data from the volume', () => {
  const container = etcdOf(peerOf());
  assert.deepEqual(container.command, ['/usr/local/bin/etcd']);
  assert.deepEqual(
    container.env,
    ['ETCD_INITIAL_CLUSTER', 'ETCD_INITIAL_CLUSTER_STATE'].map((name) => ({
      name,
      valueFrom: { configMapKeyRef: { name: 'orders-1', key: name } },
    })),
  );
  assert.deepEqual(container.volumeMounts, [{ name: 'data', mountPath: '/var/lib/etcd' }]);
  assert.deepEqual(podOf(peerOf()).spec.volumes, [{ name: 'data', persistentVolumeClaim: { claimName: 'orders-1' } }]);
});

test('the pod satisfies the restricted Pod Security Standard and holds no token', () => {
  const { spec } = podOf(peerOf());
  assert.partialDeepStrictEqual(spec, {
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: { type: 'RuntimeDefault' } },
  });
  assert.deepEqual(etcdOf(peerOf()).securityContext, {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
  });
});

test('probes ask the metrics port, and readiness waits longer than etcd does for a quorum', () => {
  const { startupProbe, readinessProbe, livenessProbe } = etcdOf(peerOf());
  assert.deepEqual(startupProbe?.httpGet, { path: '/livez', port: 2381, scheme: 'HTTP' });
  assert.deepEqual(livenessProbe?.httpGet, { path: '/livez', port: 2381, scheme: 'HTTP' });
  assert.deepEqual(readinessProbe?.httpGet, { path: '/readyz', port: 2381, scheme: 'HTTP' });
  assert.ok((readinessProbe?.timeoutSeconds ?? 0) > 7);
});

test('Go is told the limits that are set, and no others', () => {
  const names = (peer: EtcdPeer) => (etcdOf(peer).env ?? []).slice(2).map(({ name }) => name);
  assert.deepEqual(names(peerOf()), []);
  assert.deepEqual(names(peerOf({ resources: { requests: { cpu: '1', memory: '1Gi' } } })), []);
  assert.deepEqual(names(peerOf({ resources: { limits: { memory: '1Gi' } } })), ['GOMEMLIMIT']);
  assert.deepEqual(
    names(peerWithTemplate({ containers: [{ name: 'etcd', resources: { limits: { cpu: 2, memory: '1Gi' } } }] })),
    ['GOMAXPROCS', 'GOMEMLIMIT'],
  );
});

test('a GOMEMLIMIT of ones own wins', () => {
  const peer = peerWithTemplate({
    containers: [
      { name: 'etcd', env: [{ name: 'GOMEMLIMIT', value: '900MiB' }], resources: { limits: { memory: '1Gi' } } },
    ],
  });
  assert.deepEqual((etcdOf(peer).env ?? []).slice(2), [{ name: 'GOMEMLIMIT', value: '900MiB' }]);
});

test('pull secrets reach the pod', () => {
  const { spec } = podOf(peerOf({ image: { repository: 'r/etcd', pullSecrets: [{ name: 'registry' }] } }));
  assert.deepEqual(spec.imagePullSecrets, [{ name: 'registry' }]);
});

test('equal peers give equal StatefulSets, byte for byte', () => {
  assert.equal(JSON.stringify(statefulSet(peerOf())), JSON.stringify(statefulSet(peerOf())));
});

test('spellings, empty settings, bootstrap and storage do not change the inputs', () => {
  const { spec } = peerOf();
  for (const same of [
    { ...spec, version: 'v3.6.16' },
    { ...spec, resources: {} },
    { ...spec, etcd: {} },
    { ...spec, podTemplate: { metadata: {}, spec: {} } },
    { ...spec, image: { ...spec.image, pullSecrets: [] } },
    { ...spec, storage: { size: '100Gi' } },
    { ...spec, bootstrap: { ...spec.bootstrap, state: 'Existing' as const } },
  ]) {
    assert.ok(sameInputs(spec, same), JSON.stringify(same));
  }
  assert.ok(
    sameInputs({ ...spec, etcd: { quotaBackendBytes: '1Gi' } }, { ...spec, etcd: { quotaBackendBytes: 2 ** 30 } }),
  );
});

test('whatever changes how a member runs changes the inputs', () => {
  const { spec } = peerOf();
  for (const other of [
    { ...spec, version: '3.6.17' },
    { ...spec, image: { repository: 'mirror.example.com/etcd' } },
    { ...spec, etcd: { snapshotCount: 5000 } },
    { ...spec, etcd: { quotaBackendBytes: '1Gi' } },
    { ...spec, etcd: { extraArgs: { 'max-txn-ops': '1024' } } },
    { ...spec, tls: { mode: 'Managed' as const } },
    { ...spec, resources: { limits: { memory: '1Gi' } } },
    { ...spec, podTemplate: { spec: { priorityClassName: 'high' } } },
  ]) {
    assert.ok(!sameInputs(spec, other), JSON.stringify(other));
  }
});
