import assert from 'node:assert/strict';
import { test } from 'node:test';
import { egressFrom } from '../../../functions/environment.ts';
import { agentAccess, agentContainer } from '../../../manifests/render/agent-container.ts';
import { openStore } from '../../../reconcile/backup/stores/open-store.ts';

const at = { scheme: 's3', bucket: 'b', path: 'a.db' } as const;
// No such directory: where it is read, that is what the failure is about.
const withKey = { endpoint: 'http://minio.example.com:9000', credentialsDirectory: '/nowhere' };
const listing = (hosts: string) => egressFrom({ RATCHET_PLAIN_HTTP_HOSTS: hosts });
const readsKey = { reason: 'Forbidden' };

test('credentials of a store are not even read where its endpoint is plain HTTP', async () => {
  const refused = { reason: 'PlainHttpRefused', message: /RATCHET_PLAIN_HTTP_HOSTS/ };
  await assert.rejects(openStore(at, { s3: withKey }), refused);
  await assert.rejects(openStore(at, { s3: withKey }, listing('other.example.com minio.example.com:9001')), refused);
  const gcs = { endpoint: 'http://gcs.example.com', keyFile: '/nowhere' };
  await assert.rejects(openStore({ ...at, scheme: 'gs' }, { gcs }), refused);
});

test('they are where the endpoint has TLS, or its host is listed', async () => {
  await assert.rejects(openStore(at, { s3: { ...withKey, endpoint: 'https://minio.example.com' } }), readsKey);
  await assert.rejects(openStore(at, { s3: withKey }, listing('*.example.com')), readsKey);
});

test('without credentials plain HTTP is the author’s choice', async () => {
  const gcs = { endpoint: withKey.endpoint, anonymous: true };
  const store = await openStore({ ...at, scheme: 'gs' }, { gcs });
  store.close();
});

test('only a pod that would speak plain HTTP is told which hosts its namespace lists', () => {
  const envFor = (endpoint: string) => {
    const access = agentAccess(at, { s3: { endpoint, credentialsSecretName: 'key' } }, 'write');
    const { env = [] } = agentContainer({ name: 'agent', image: 'i', request: {}, access });
    return env.find(({ name }) => name === 'RATCHET_NAMESPACE_PLAIN_HTTP_HOSTS')?.valueFrom;
  };
  assert.deepEqual(envFor('http://minio:9000'), {
    configMapKeyRef: { name: 'etcd-ratchet-settings', key: 'RATCHET_PLAIN_HTTP_HOSTS', optional: true },
  });
  assert.equal(envFor('https://minio:9000'), undefined);
});
