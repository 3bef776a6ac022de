import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceEnv } from '../../support/cluster/node/service-env.ts';
import type { Service } from '../../support/cluster/node/wire.ts';

function service(
  namespace: string,
  name: string,
  clusterIP: string,
  ports: object[] = [{ port: 443, name: 'https' }],
): Service {
  return { metadata: { namespace, name }, spec: { clusterIP, ports } } as unknown as Service;
}

const services = [
  service('default', 'kubernetes', '10.96.0.1'),
  service('shop', 'my-db', '10.96.1.1', [{ port: 2379 }]),
  service('shop', 'peers', 'None'),
  service('other', 'hidden', '10.96.2.2'),
];

test('the API server is found, Services of other namespaces and headless ones are not', () => {
  const env = serviceEnv(services, 'shop', true);
  assert.equal(env.get('KUBERNETES_SERVICE_HOST'), '10.96.0.1');
  assert.equal(env.get('KUBERNETES_SERVICE_PORT'), '443');
  assert.equal(env.get('KUBERNETES_SERVICE_PORT_HTTPS'), '443');
  assert.equal(env.get('MY_DB_PORT_2379_TCP'), 'tcp://10.96.1.1:2379');
  assert.deepEqual(
    [...env.keys()].filter((key) => /^(PEERS|HIDDEN)/.test(key)),
    [],
  );
});

test('without service links only the API server is given', () => {
  const env = serviceEnv(services, 'shop', false);
  assert.deepEqual(
    [...env.keys()].filter((key) => !key.startsWith('KUBERNETES_')),
    [],
  );
});
