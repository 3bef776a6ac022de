import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Ingress, onwardOf } from '../../support/knative/ingress.ts';

const split = (serviceName: string, percent: number) => ({
  ...{ serviceNamespace: 'home', serviceName, servicePort: 80, percent },
  appendHeaders: { 'Knative-Serving-Revision': serviceName },
});
const rule = (host: string, visibility: 'ExternalIP' | 'ClusterLocal', ...splits: ReturnType<typeof split>[]) => ({
  ...{ hosts: [host], visibility },
  http: { paths: [{ splits }] },
});
const ingress: Ingress = {
  metadata: { namespace: 'home', name: 'shop' },
  spec: {
    rules: [
      rule('shop.home.svc.cluster.local', 'ClusterLocal', split('shop-2', 100)),
      rule('shop.example.org', 'ExternalIP', split('shop-1', 30), split('shop-2', 70)),
    ],
  },
};

function serviceAt(host: string, isPublic: boolean, draw = 0): string | undefined {
  return onwardOf([ingress], { host, path: '/' }, { isPublic, draw: () => draw })?.service;
}

test('a request goes to the Service of its host, with the headers of the revision', () => {
  const onward = onwardOf([ingress], { host: 'shop.example.org', path: '/a' }, { isPublic: true, draw: () => 0.5 });
  assert.deepEqual(onward, {
    ...{ namespace: 'home', service: 'shop-2', port: 80 },
    headers: { 'Knative-Serving-Revision': 'shop-2' },
  });
});

test('revisions get their share', () => {
  const drawn = [0, 0.29, 0.3, 0.99].map((draw) => serviceAt('shop.example.org', true, draw));
  assert.deepEqual(drawn, ['shop-1', 'shop-1', 'shop-2', 'shop-2']);
});

test('what is cluster-local is served inside only, and an unknown host nowhere', () => {
  const local = 'shop.home.svc.cluster.local';
  assert.deepEqual([serviceAt(local, false), serviceAt(local, true)], ['shop-2', undefined]);
  assert.equal(serviceAt('other.example.org', false), undefined);
});
