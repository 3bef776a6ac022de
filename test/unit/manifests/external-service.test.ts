import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../../../manifests/kube-types.ts';
import { correctedExternal, externalService } from '../../../manifests/render/external-service.ts';
import { clientService } from '../../../manifests/render/services.ts';
import { clusterOf } from './build-fixtures.ts';

const full = {
  type: 'LoadBalancer',
  labels: { tier: 'data', 'example.com/team': 'a' },
  annotations: { 'example.com/dns': 'etcd.example.com' },
  nodePort: 32_379,
  loadBalancerClass: 'example.com/nlb',
  loadBalancerSourceRanges: ['192.0.2.0/24'],
  externalTrafficPolicy: 'Local',
} as const;

const madeWith = (service: NonNullable<ReturnType<typeof clusterOf>['spec']['service']>) =>
  externalService(clusterOf({ service }));

test('it leads to the same pods as the Service for clients, and to their client port only', () => {
  const { metadata, spec } = madeWith(full);
  assert.equal(metadata.name, 'orders-external');
  assert.deepEqual(spec.selector, clientService(clusterOf()).spec.selector);
  assert.deepEqual(spec.ports, [
    { name: 'client', port: 2379, targetPort: 'client', protocol: 'TCP', nodePort: 32_379 },
  ]);
  assert.equal(spec.publishNotReadyAddresses, undefined, 'a learner, and a member that starts, are not Ready');
});

test('it has what the spec gives it, and our own labels win', () => {
  const { metadata, spec } = madeWith({ ...full, labels: { ...full.labels } });
  assert.partialDeepStrictEqual(metadata.labels, { ...full.labels, 'etcd.ratchet.dev/cluster': 'orders' });
  assert.equal(metadata.annotations?.['example.com/dns'], 'etcd.example.com');
  const { loadBalancerClass, loadBalancerSourceRanges, externalTrafficPolicy } = full;
  assert.partialDeepStrictEqual(spec, { loadBalancerClass, loadBalancerSourceRanges, externalTrafficPolicy });
});

test('within the Kubernetes cluster it has no policy for traffic from outside', () => {
  assert.equal(madeWith({ type: 'ClusterIP' }).spec.externalTrafficPolicy, undefined);
  assert.equal(madeWith({ type: 'NodePort' }).spec.externalTrafficPolicy, 'Cluster');
});

test('every change of spec.service is seen in its hash', () => {
  const hashes = [
    madeWith(full),
    madeWith({ ...full, annotations: {} }),
    madeWith({ ...full, loadBalancerSourceRanges: [] }),
    madeWith({ type: 'NodePort' }),
  ].map(({ metadata }) => metadata.annotations?.['etcd.ratchet.dev/inputs-hash']);
  assert.equal(new Set(hashes).size, hashes.length);
});

const asStored = (made: Service): Service => ({
  ...made,
  metadata: {
    ...made.metadata,
    labels: { ...made.metadata.labels, 'others.example.com/label': 'stays' },
    annotations: { ...made.metadata.annotations, 'others.example.com/note': 'stays' },
  },
  spec: { ...made.spec, clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ipFamilyPolicy: 'PreferDualStack' },
});

test('what the spec gave it before is taken away, and what others gave it stays', () => {
  const corrected = correctedExternal(asStored(madeWith(full)), madeWith({ type: 'NodePort', labels: { tier: 'b' } }));
  assert.equal(corrected.metadata.annotations?.['example.com/dns'], undefined);
  assert.equal(corrected.metadata.labels?.['example.com/team'], undefined);
  assert.equal(corrected.metadata.labels?.tier, 'b');
  assert.equal(corrected.metadata.labels?.['others.example.com/label'], 'stays');
  assert.equal(corrected.metadata.annotations?.['others.example.com/note'], 'stays');
  const { loadBalancerClass, loadBalancerSourceRanges, clusterIP } = corrected.spec;
  assert.deepEqual([loadBalancerClass, loadBalancerSourceRanges, clusterIP], [undefined, undefined, '10.96.0.7']);
});

for (const noted of ['', '{', '[', '7', 'null', '[[1],["example.com/dns",{}]]', '[["a"]]', '{"0":["tier"]}']) {
  test(`keys that a person wrote as ${JSON.stringify(noted)} break nothing`, () => {
    const found = asStored(madeWith(full));
    const metadata = {
      ...found.metadata,
      annotations: { ...found.metadata.annotations, 'etcd.ratchet.dev/given-keys': noted },
    };
    const corrected = correctedExternal({ ...found, metadata }, madeWith({ type: 'NodePort' }));
    assert.equal(corrected.spec.type, 'NodePort');
    assert.equal(corrected.metadata.labels?.['etcd.ratchet.dev/cluster'], 'orders');
  });
}
