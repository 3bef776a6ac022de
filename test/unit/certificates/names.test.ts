import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certManagerCertificate } from '../../../manifests/render/cert-manager-certificate.ts';
import {
  clusterLeaves,
  gatewayLeaf,
  issuedSecretName,
  memberLeaves,
  ownNamesOf,
  userLeaves,
} from '../../../manifests/render/certificate-names.ts';
import { ownerReference } from '../../../manifests/render/owner-reference.ts';
import { covers, missingNames, requiredNames } from '../../../reconcile/x509/names.ts';
import { peerPlan, serverPlan } from './forge.ts';

test('required are the pod, and for a server the client Service', () => {
  assert.deepEqual(requiredNames(peerPlan), ['c-0-0.c-peers.payments.svc']);
  assert.deepEqual(requiredNames(serverPlan), ['c-0-0.c-peers.payments.svc', 'c.payments.svc']);
  for (const plan of clusterLeaves('c')) assert.deepEqual(requiredNames(plan), []);
});

test('required are the names by which members let a leaf in', () => {
  const place = { namespace: 'payments', cluster: 'c' };
  const own = ownNamesOf(place);
  const [peer, server] = memberLeaves({ ...place, own }, 'c-0');
  assert.deepEqual(requiredNames(peer), ['c-0-0.c-peers.payments.svc', own.members]);
  assert.deepEqual(requiredNames(server), requiredNames(serverPlan));
  for (const plan of [...clusterLeaves('c', own), ...userLeaves('c', ['reader'], own)])
    assert.deepEqual(requiredNames(plan), [own.clients]);
});

test('the leaf of a user has its name, in a Secret that no other user or cluster has', () => {
  const plans = [...userLeaves('c', ['a-b', 'a', 'c-client']), ...userLeaves('b-c', ['a', 'b-c-client'])];
  assert.deepEqual(
    plans.map(({ secretName, commonName, usages }) => [secretName, commonName, usages]),
    [
      ['a-b.c-user-tls', 'a-b', ['clientAuth']],
      ['a.c-user-tls', 'a', ['clientAuth']],
      ['a.b-c-user-tls', 'a', ['clientAuth']],
    ],
  );
});

test('names of Secrets and common names are valid for the longest names of a user and a cluster', () => {
  const [plan] = userLeaves('c'.repeat(49), ['u'.repeat(63)]);
  assert.ok(plan && issuedSecretName(plan).length <= 253);
  // X.509 (ub-common-name), and cert-manager's admission.
  assert.ok((plan.commonName ?? '').length <= 64);
  const { metadata, spec } = certManagerCertificate(plan, {
    ...{ cluster: 'c'.repeat(49), namespace: 'payments', issuerRef: { name: 'company' }, lifetime: 7_776_000_000 },
    owner: ownerReference('EtcdCluster', { metadata: { name: 'c', uid: 'uid' } }),
  });
  for (const value of Object.values({ ...metadata.labels, ...spec.secretTemplate?.labels }))
    assert.match(value, /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/u);
});

test('not required is the name of the leaf for the gateway, by which no member lets in', () => {
  const place = { namespace: 'payments', cluster: 'c' };
  const { dnsNames, commonName, ...leaf } = gatewayLeaf(place);
  const { members, clients } = ownNamesOf(place);
  assert.deepEqual(requiredNames({ ...leaf, dnsNames }), []);
  assert.deepEqual([commonName, dnsNames], [undefined, ['gateway.c.payments.etcd-ratchet.invalid']]);
  assert.ok(![members, clients].some((name) => dnsNames.includes(name)));
});

test('not required is a name that no member asks for yet', () => {
  const place = { namespace: 'payments', cluster: 'c' };
  const ahead = { ...ownNamesOf(place), since: 'Ahead' } as const;
  const [peer] = memberLeaves({ ...place, own: ahead }, 'c-0');
  assert.deepEqual(requiredNames(peer), requiredNames(peerPlan));
  for (const plan of clusterLeaves('c', ahead)) assert.deepEqual([requiredNames(plan), plan.dnsNames.length], [[], 1]);
});

test('names that a user added are not required, even when they look like the Service', () => {
  const dnsNames = [...serverPlan.dnsNames, 'd.payments.svc', 'c.other.svc', 'c'];
  assert.deepEqual(requiredNames({ ...serverPlan, dnsNames }), ['c-0-0.c-peers.payments.svc', 'c.payments.svc']);
});

for (const [pattern, name, expected] of [
  ['a.example', 'a.example', true],
  ['a.example', 'A.EXAMPLE', true],
  ['A.example', 'a.example', true],
  ['a.example', 'b.a.example', false],
  ['*.example', 'a.example', true],
  ['*.example', 'a.b.example', false],
  ['*.example', 'example', false],
  ['*.example', '.example', false],
  ['*.b.example', 'a.b.example', true],
  ['a.*.example', 'a.b.example', false],
  ['a*.example', 'ab.example', false],
  ['*', 'example', false],
  ['*.', 'a.', false],
  ['*.*.example', 'a.b.example', false],
] as const) {
  test(`${pattern} ${expected ? 'covers' : 'does not cover'} ${name}`, () => {
    assert.equal(covers(pattern, name), expected);
  });
}

test('addresses are compared as addresses, and no wildcard covers one', () => {
  const facts = { dnsNames: ['*.0.0.1', 'localhost'], ipAddresses: ['::1', '10.0.0.1'] };
  const wanted = ['127.0.0.1', '10.0.0.1', '0:0:0:0:0:0:0:1', '::2', 'localhost'];
  assert.deepEqual(missingNames(facts, wanted), ['127.0.0.1', '::2']);
});
