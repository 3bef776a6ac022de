import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { after, test } from 'node:test';
import type { KubeObject } from '../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certManagerCertificate,
  isCurrent,
} from '../../../manifests/render/cert-manager-certificate.ts';
import { certificateState } from '../../../manifests/render/cert-manager-state.ts';
import { clusterLeaves, gatewayLeaf, memberLeaves } from '../../../manifests/render/certificate-names.ts';
import { ownerReference } from '../../../manifests/render/owner-reference.ts';
import { cluster } from '../../unit/manifests/api-documents.ts';
import { startApiServer } from './api-server.ts';

const fixture = resolve(import.meta.dirname, '../../support/fixtures/cert-manager/certificates.yaml');
/** Another one may be named, such as cert-manager's own file: the fixture's README says where it is. */
const crd = await readFile(process.env.CERT_MANAGER_CRD ?? fixture, 'utf8');

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '--server-side', '-f', '-'], { stdin: crd });
await api.kubectl(['wait', '--for=condition=Established', 'crd/certificates.cert-manager.io', '--timeout=30s']);

const collection = '/apis/cert-manager.io/v1/namespaces/default/certificates';
// A real owner: what belongs to nobody is collected, if the garbage collector comes to look.
const owner = await api.send('POST', '/apis/etcd.ratchet.dev/v1alpha1/namespaces/default/etcdclusters', cluster);
assert.equal(owner.status, 201, owner.body.message);
const inputs = {
  cluster: 'orders',
  namespace: 'default',
  owner: ownerReference('EtcdCluster', owner.body as unknown as KubeObject),
  issuerRef: { name: 'platform', kind: 'ClusterIssuer' },
  lifetime: 90 * 24 * 3600e3,
};
const wanted = [
  ...memberLeaves({ namespace: 'default', cluster: 'orders', dnsNames: ['etcd.example.com'] }, 'orders-0'),
  ...clusterLeaves('orders'),
  gatewayLeaf({ namespace: 'default', cluster: 'orders' }),
].map((leaf) => certManagerCertificate(leaf, inputs));

for (const certificate of wanted) {
  test(`the API server takes Certificate ${certificate.metadata.name} and drops nothing of it`, async () => {
    const { status, body } = await api.send('POST', `${collection}?dryRun=All`, certificate);
    assert.equal(status, 201, body.message);
    const stored = body as unknown as CertManagerCertificate;
    assert.deepEqual(stored.spec, certificate.spec);
    assert.deepEqual(stored.metadata.labels, certificate.metadata.labels);
    assert.deepEqual(stored.metadata.ownerReferences, certificate.metadata.ownerReferences);
    assert.ok(isCurrent(stored, certificate));
    assert.equal(certificateState(stored).state, 'issuing');
  });
}

const [any] = wanted;
assert.ok(any);

for (const [title, spec, complaint] of [
  ['a field that it does not know', { lifetime: '2160h' }, /unknown field "spec.lifetime"/],
  ['a misspelt key setting', { privateKey: { algorithm: 'ECDSA', bits: 256 } }, /unknown field "spec.privateKey.bits"/],
  ['a usage as X.509 spells it', { usages: ['serverAuth'] }, /spec.usages\[0\].*Unsupported value/],
  [
    'a key algorithm in lower case',
    { privateKey: { algorithm: 'ecdsa' } },
    /spec.privateKey.algorithm.*Unsupported value/,
  ],
  [
    'an encoding that it does not have',
    { privateKey: { encoding: 'PEM' } },
    /spec.privateKey.encoding.*Unsupported value/,
  ],
  [
    'a rotation policy that it does not have',
    { privateKey: { rotationPolicy: 'OnRenewal' } },
    /rotationPolicy.*Unsupported/,
  ],
  ['a lifetime as a number', { duration: 7776000 }, /spec.duration.*must be of type string/],
  ['a size as text', { privateKey: { size: '256' } }, /spec.privateKey.size.*must be of type integer/],
  ['no Secret', { secretName: undefined }, /spec.secretName: Required value/],
  ['no issuer', { issuerRef: undefined }, /spec.issuerRef: Required value/],
  ['an issuer without a name', { issuerRef: { kind: 'Issuer' } }, /spec.issuerRef.name: Required value/],
] as const) {
  test(`the API server refuses a Certificate with ${title}`, async () => {
    const bad = { ...any, spec: { ...any.spec, ...spec } };
    const { status, body } = await api.send('POST', `${collection}?dryRun=All`, bad);
    assert.ok(status >= 400 && status < 500, `${status}`);
    assert.match(body.message ?? '', complaint);
  });
}

test("a Certificate's status is read back as cert-manager writes it", async () => {
  const created = await api.send('POST', collection, any);
  assert.equal(created.status, 201, created.body.message);
  const notAfter = '2026-04-01T00:00:00Z';
  const renewalTime = '2026-03-01T00:00:00Z';
  const status = {
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Ready',
        message: 'Certificate is up to date and has not expired',
        observedGeneration: 1,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
    notBefore: '2026-01-01T00:00:00Z',
    notAfter,
    renewalTime,
    revision: 1,
  };
  const path = `${collection}/${any.metadata.name}`;
  const written = await api.send('PUT', `${path}/status`, { ...created.body, status });
  assert.equal(written.status, 200, written.body.message);
  assert.deepEqual(written.body.status, status);
  const found = (await api.send('GET', path)).body as unknown as CertManagerCertificate;
  assert.deepEqual(certificateState(found), { state: 'ready', notAfter, renewalTime, revision: 1 });
  assert.ok(isCurrent(found, any));
});
