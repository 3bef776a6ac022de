import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, id_ce_subjectAltName } from '@peculiar/asn1-x509';
import { clusterLeaves, gatewayLeaf, userLeaves } from '../../../manifests/render/certificate-names.ts';
import { canonicalAddress } from '../../../reconcile/x509/facts.ts';
import { inspectAuthority } from '../../../reconcile/x509/inspect.ts';
import {
  type Authority,
  CertificateError,
  createAuthority,
  type IssuedLeaf,
  issueLeaf,
} from '../../../reconcile/x509/issue.ts';
import { defectsOf, missingNames } from '../../../reconcile/x509/judge.ts';
import { authorityData, authorityOf, leafData, trustOf } from '../../../reconcile/x509/secret-data.ts';
import { days, forge, leafFacts, minutes, now, peerPlan, root, serverPlan } from './forge.ts';

const life = { notBefore: minutes(-5), notAfter: days(3650) };
const old = await createAuthority({ commonName: 'payments/c peer CA', ...life });
const next = await createAuthority({ commonName: 'payments/c peer CA', ...life, previous: old });
const year = { notBefore: now, notAfter: days(365) };

const gatewayPlan = gatewayLeaf({ namespace: 'payments', cluster: 'c' });

for (const plan of [peerPlan, serverPlan, ...clusterLeaves('c'), gatewayPlan, ...userLeaves('c', ['reader'])]) {
  test(`a ${plan.purpose} leaf says what was planned, and nothing else`, async () => {
    const issued = await issueLeaf(plan, old, year);
    const data = leafData(issued, [old.certificate]);
    const facts = leafFacts(data);
    assert.equal(facts.commonName, plan.commonName);
    assert.deepEqual(facts.dnsNames, plan.dnsNames);
    assert.deepEqual(facts.ipAddresses, plan.ipAddresses);
    assert.deepEqual(facts.usages, plan.usages);
    assert.equal(facts.isAuthority, false);
    assert.deepEqual([facts.notBefore, facts.notAfter], [now, days(365)]);
    assert.deepEqual([facts.keyType, facts.curve, facts.chainLength], ['ec', 'prime256v1', 1]);
    assert.deepEqual(missingNames(facts, [...plan.dnsNames, ...plan.ipAddresses]), []);
    assert.deepEqual(defectsOf({ data, plan, now }), []);
    assert.match(issued.key, /^-----BEGIN PRIVATE KEY-----\n/);
  });
}

for (const address of ['10.0.0.7', '2001:db8::10.0.0.7', '1:2:3:4:5:6:10.0.0.1', '::ffff:192.0.2.2', 'FD00::0:1']) {
  test(`a leaf for ${address} is good for that address, and counts as such`, async () => {
    const issued = await issueLeaf({ ...serverPlan, ipAddresses: [address] }, old, year);
    assert.ok(new X509Certificate(issued.certificate).checkIP(canonicalAddress(address)));
    assert.deepEqual(missingNames(leafFacts(leafData(issued, [old.certificate])), [address]), []);
  });
}

test('where the subject is empty, the names are critical, and only there', async () => {
  for (const plan of [gatewayPlan, peerPlan]) {
    const { certificate } = await issueLeaf(plan, old, year);
    const { tbsCertificate } = AsnConvert.parse(new X509Certificate(certificate).raw, Certificate);
    const names = tbsCertificate.extensions?.find(({ extnID }) => extnID === id_ce_subjectAltName);
    assert.equal(names?.critical, plan === gatewayPlan);
    assert.equal(tbsCertificate.subject.length, plan === gatewayPlan ? 0 : 1);
  }
});

test('every leaf has a key and a serial number of its own', async () => {
  const leaves = await Promise.all(Array.from({ length: 8 }, () => issueLeaf(peerPlan, old, year)));
  const serials = leaves.map(({ certificate }) => new X509Certificate(certificate).serialNumber);
  assert.equal(new Set(serials).size, 8);
  for (const serial of serials) assert.match(serial, /^[4-7][0-9A-F]{31}$/, '16 bytes, positive');
  assert.equal(new Set(leaves.map(({ key }) => key)).size, 8);
});

test('two CAs asked for under one name have different ones', () => {
  const [a, b] = [old, next].map(({ certificate }) => new X509Certificate(certificate).subject);
  assert.notEqual(a, b);
  assert.match(a ?? '', /^CN=payments\/c peer CA [0-9a-f]{8}$/);
});

test('a CA is one, signs leaves and one further generation, and outlives 2050', async () => {
  const long = await createAuthority({
    commonName: 'long',
    notBefore: now,
    notAfter: new Date('2125-06-01T00:00:00Z'),
  });
  const facts = factsOf(long);
  assert.equal(facts.isAuthority, true);
  assert.equal(facts.pathLength, 1);
  assert.equal(facts.keyMatches, true);
  assert.equal(facts.crossed, false);
  assert.deepEqual(facts.notAfter, new Date('2125-06-01T00:00:00Z'));
  const certificate = new X509Certificate(long.certificate);
  assert.ok(certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey));
});

test('fractions of a second are cut off, as Go refuses them', async () => {
  const issued = await issueLeaf(peerPlan, old, { notBefore: new Date(now.getTime() + 999), notAfter: days(1) });
  assert.deepEqual(new X509Certificate(issued.certificate).validFromDate, now);
});

test('a cross certificate is the new CA as the old one vouches for it', () => {
  const [before, after, cross] = [old.certificate, next.certificate, next.cross ?? ''].map(
    (pem) => new X509Certificate(pem),
  );
  assert.ok(before && after && cross);
  assert.equal(cross.subject, after.subject);
  assert.ok(cross.publicKey.equals(after.publicKey));
  assert.ok(cross.checkIssued(before) && cross.verify(before.publicKey));
  assert.equal(factsOf(next).crossed, true);
  assert.equal(factsOf(next).cross?.pathLength, 0);
});

test('a leaf of a crossed CA is sound for who trusts the old one, the new one, or both', async () => {
  const leaf = await issueLeaf(peerPlan, next, year);
  for (const trust of [[old.certificate], [next.certificate], [next.certificate, old.certificate]]) {
    assert.deepEqual(defectsOf({ data: leafData(leaf, trust), plan: peerPlan, now }), []);
  }
  const { cross: _, ...uncrossed } = next;
  const alone = await issueLeaf(peerPlan, uncrossed, year);
  const [defect] = defectsOf({ data: leafData(alone, [old.certificate]), plan: peerPlan, now });
  assert.equal(defect?.reason, 'ChainBroken');
});

test('a leaf ends with its CA, a cross certificate with the CA that signed it', async () => {
  const short = await createAuthority({ commonName: 'short', notBefore: now, notAfter: days(10) });
  assert.deepEqual(new X509Certificate((await issueLeaf(peerPlan, short, year)).certificate).validToDate, days(10));
  const long = await createAuthority({ commonName: 'long', ...life, previous: short });
  const cross = new X509Certificate(long.cross ?? '');
  assert.deepEqual([cross.validFromDate, cross.validToDate], [now, days(10)]);
});

test('a cross certificate that has ended, or could not begin, is left out', async () => {
  const short = await createAuthority({ commonName: 'short', notBefore: now, notAfter: days(10) });
  const late = await createAuthority({ commonName: 'late', notBefore: days(10), notAfter: days(99), previous: short });
  assert.equal(late.cross, undefined);
  const long = await createAuthority({ commonName: 'long', ...life, previous: short });
  const leaf = await issueLeaf(peerPlan, long, { notBefore: days(10), notAfter: days(20) });
  assert.equal(leafFacts(leafData(leaf, [long.certificate])).chainLength, 1);
});

test('the name of a CA is shortened to 64 characters, that of a leaf is refused', async () => {
  const long = await createAuthority({ commonName: 'n'.repeat(100), ...life });
  assert.match(new X509Certificate(long.certificate).subject, /^CN=n{55} [0-9a-f]{8}$/);
  assert.equal((await issueLeaf({ ...peerPlan, commonName: 'n'.repeat(64) }, old, year)).key.length > 0, true);
  for (const commonName of ['', 'n'.repeat(65)]) {
    await assert.rejects(issueLeaf({ ...peerPlan, commonName }, old, year), {
      message: /c-0-peer-tls .* 1 to 64 characters/,
    });
  }
});

test('nothing is syntax in a name', async () => {
  const commonName = 'a"b\\, O=c+CN=#04';
  const leaf = await issueLeaf({ ...peerPlan, commonName }, old, year);
  assert.equal(leafFacts(leafData(leaf, [old.certificate])).commonName, commonName);
});

const rsaCa = await root('rsa', { algorithm: 'RSA-2048' });
const plain = await forge({ name: 'leaf', authority: false });

for (const [what, authority, words] of [
  ["another CA's key", { ...old, key: next.key }, /not that of its certificate/],
  ['a cross certificate of another CA', { ...old, cross: next.cross ?? '' }, /cross certificate/],
  ['an RSA key', { certificate: rsaCa.pem, key: rsaCa.key }, /not an ECDSA key on P-256/],
  ['a certificate that is no CA', { certificate: plain.pem, key: plain.key }, /not that of a CA/],
  ['half a key', { ...old, key: old.key.slice(0, 120) }, /cannot be read/],
  [
    'an ended CA',
    await createAuthority({ commonName: 'x', notBefore: days(-9), notAfter: days(-1) }),
    /ended at 2030-05-31.*rotate it/,
  ],
] satisfies readonly (readonly [string, Authority, RegExp])[]) {
  test(`with ${what} nothing is signed, and the error shows nothing of the key`, async () => {
    const error = await issueLeaf(peerPlan, authority, year).then(
      () => assert.fail('it was signed'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof CertificateError);
    assert.match(error.message, words);
    const shown = `${error.stack} ${JSON.stringify(error)}`;
    assert.equal(error.cause, undefined);
    for (const line of authority.key.split('\n').slice(1, 3)) assert.equal(shown.includes(line), false);
  });
}

for (const [what, validity] of [
  ['empty', { notBefore: now, notAfter: now }],
  ['backwards', { notBefore: now, notAfter: days(-1) }],
  ['no time at all', { notBefore: now, notAfter: new Date(Number.NaN) }],
] as const) {
  test(`a validity that is ${what} is refused`, async () => {
    await assert.rejects(createAuthority({ commonName: 'x', ...validity }), CertificateError);
    await assert.rejects(issueLeaf(peerPlan, old, validity), CertificateError);
  });
}

test('a CA comes out of its Secret as it went in', () => {
  for (const authority of [old, next]) {
    const data = authorityData(authority, [next.certificate, old.certificate]);
    assert.deepEqual(authorityOf(data), authority);
    assert.deepEqual(trustOf(data), [next.certificate, old.certificate]);
  }
  const data = authorityData(next, [next.certificate]);
  assert.throws(() => authorityOf({ ...data, 'tls.key': '' }), {
    message: 'tls.key holds no private key that can be read',
  });
  const sec1 = createPrivateKey(next.key).export({ type: 'sec1', format: 'pem' }).toString();
  const edited = { ...data, 'tls.key': Buffer.from(sec1).toString('base64') };
  assert.equal(authorityOf(edited).key, next.key, 'the same key in another form');
  assert.throws(() => authorityOf({ ...data, 'tls.crt': '%' }), { message: 'tls.crt is not base64' });
  assert.throws(() => trustOf({ ...data, 'ca.crt': data['ca.crt'].slice(0, 400) }), {
    message: /^ca\.crt ends in the middle/,
  });
});

test('only the data of a Secret ever holds a key', async () => {
  const leaf: IssuedLeaf = await issueLeaf(peerPlan, next, year);
  const facts = JSON.stringify([leafFacts(leafData(leaf, [next.certificate])), factsOf(next)]);
  for (const line of `${leaf.key}${next.key}`.split('\n').filter((part) => part.length === 64)) {
    assert.equal(facts.includes(line), false);
  }
});

function factsOf(authority: Authority) {
  const found = inspectAuthority(authorityData(authority, [authority.certificate]));
  assert.equal(found.kind, 'readable');
  return found.authority;
}
