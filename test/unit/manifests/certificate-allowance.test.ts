import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayHaveAuthority, namesRefused, readAllowances } from '../../../manifests/render/certificate-allowance.ts';

/** Authors of specs who want a certificate of a trusted CA for a name that is not theirs. */

const asking = { namespace: 'payments', cluster: 'orders', issuerRef: { name: 'company', kind: 'ClusterIssuer' } };

function refused(names: readonly string[], text = '', change: Partial<typeof asking> = {}): readonly string[] {
  const { allowances, wrong } = readAllowances(text);
  assert.deepEqual(wrong, [], text);
  return namesRefused(names, { ...asking, ...change }, allowances);
}

for (const name of [
  'orders',
  'orders.payments.svc',
  'ORDERS.payments.svc',
  'orders.payments.svc.cluster.local',
  'localhost',
  '127.0.0.1',
  '::1',
]) {
  test(`a cluster may have ${name}, which is its own`, () => assert.deepEqual(refused([name]), []));
}

for (const name of [
  'bank.example.com',
  'orders.other.svc',
  'users.payments.svc',
  'orders.payments.svc.example.com',
  'x.orders.payments.svc',
  '*.payments.svc',
  '*.svc.cluster.local',
  'kubernetes.default.svc',
  '10.96.0.1',
  '*.com',
]) {
  test(`a cluster may not have ${name} where the installation says nothing`, () => {
    assert.deepEqual(refused([name]), [name]);
    assert.deepEqual(refused([name.toUpperCase()]), [name.toUpperCase()]);
  });
}

test('names that let in are their own cluster’s, and no list gives them to another', () => {
  const [own, others] = [
    ['clients.orders.payments.etcd-ratchet.invalid', 'MEMBERS.orders.payments.etcd-ratchet.invalid'],
    ['clients.orders.other.etcd-ratchet.invalid', '*.users.payments.etcd-ratchet.invalid', 'x.ETCD-RATCHET.invalid'],
  ] as const;
  for (const text of ['', '*/*=*', '*/*=*.etcd-ratchet.invalid']) {
    assert.deepEqual(refused(own, text), []);
    assert.deepEqual(refused(others, text), others);
  }
});

test('a name that lets in is refused also where a Certificate asks for it by now', () => {
  const names = ['clients.users.payments.etcd-ratchet.invalid'];
  const asked = { issuerRef: asking.issuerRef, names };
  assert.deepEqual(namesRefused(names, { ...asking, asked }, []), names);
});

test('only the listed names are allowed, of the listed issuer', () => {
  const text = 'ClusterIssuer/company=*.etcd.example.com,db.example.com,10.0.0.7\nIssuer/*=*';
  const good = ['a.etcd.example.com', 'a.b.etcd.example.com', '*.etcd.example.com', 'DB.example.com', '10.0.0.7'];
  assert.deepEqual(refused(good, text), []);
  for (const name of ['etcd.example.com', 'evil-etcd.example.com', 'xdb.example.com', '10.0.0.70', '*.example.com'])
    assert.deepEqual(refused([name], text), [name]);
  const others = [
    { name: 'other', kind: 'ClusterIssuer' },
    { name: 'company', kind: 'Issuer', group: 'pki.example.com' },
    { name: 'company', kind: 'ClusterIssuer', group: 'pki.example.com' },
  ];
  for (const issuerRef of others)
    assert.deepEqual(refused(['db.example.com'], text, { issuerRef }), ['db.example.com']);
  const ofNamespace = { name: 'mine' } as typeof asking.issuerRef;
  assert.deepEqual(
    refused(['db.example.com'], text, { issuerRef: ofNamespace }),
    [],
    'a kind that is not given is Issuer',
  );
});

test('a pattern with the namespace keeps tenants apart', () => {
  const text = '*/*=*.{namespace}.etcd.example.com,{cluster}.{namespace}.db';
  const own = ['a.payments.etcd.example.com', 'orders.payments.db'];
  assert.deepEqual(refused(own, text), []);
  assert.deepEqual(refused(own, text, { namespace: 'tenant' }), own);
});

test('an issuer of another group is listed with its group', () => {
  const issuerRef = { name: 'pca', kind: 'AWSPCAIssuer', group: 'awspca.cert-manager.io' };
  assert.deepEqual(
    refused(['db.example.com'], 'AWSPCAIssuer.awspca.cert-manager.io/pca=db.example.com', { issuerRef }),
    [],
  );
});

test('a CA takes a word of its own, which lets a cluster have no name', () => {
  const may = (text: string) => mayHaveAuthority(asking, readAllowances(text).allowances);
  for (const text of ['ClusterIssuer/company=CA:TRUE', '*/*=CA:TRUE', 'ClusterIssuer/company=*.example.com,CA:TRUE'])
    assert.equal(may(text), true, text);
  for (const text of ['', '*/*=*', 'ClusterIssuer/company=ca', 'Issuer/company=CA:TRUE', 'ClusterIssuer/other=CA:TRUE'])
    assert.equal(may(text), false, text);
  const names = ['ca:true', 'ca', 'true', 'db.example.com'];
  assert.deepEqual(refused(names, 'ClusterIssuer/company=CA:TRUE'), names);
});

test('entries that say nothing are told, and allow nothing', () => {
  const text = 'db.example.com company=* ClusterIssuer/company= ClusterIssuer/company=a*.b */*=** */*=*, */*=CA:FALSE';
  const { allowances, wrong } = readAllowances(text);
  assert.deepEqual(allowances, []);
  assert.equal(wrong.length, 7);
});
