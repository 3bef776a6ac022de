import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { inspectAuthority } from '../../../reconcile/x509/inspect.ts';
import { base64, days, type Forged, forge, leafFacts, peerLeaf, peerPlan, root, secret } from './forge.ts';

const ca = await root();
const other = await root('other');
const leaf = await peerLeaf(ca);
const good = secret(leaf.pem, leaf.key, ca.pem);

test('a readable Secret tells everything that its certificate says', () => {
  const { der, authorities, ...facts } = leafFacts(good);
  const certificate = new X509Certificate(leaf.pem);
  assert.equal(der, certificate.raw.toString('base64'));
  assert.deepEqual(
    authorities.map(({ subject, isAuthority }) => ({ subject, isAuthority })),
    [{ subject: 'CN=root', isAuthority: true }],
  );
  assert.deepEqual(facts, {
    subject: 'CN=c-0',
    issuer: 'CN=root',
    serial: certificate.serialNumber.toLowerCase(),
    commonName: 'c-0',
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
    dnsNames: peerPlan.dnsNames,
    ipAddresses: [],
    usages: ['serverAuth', 'clientAuth'],
    isAuthority: false,
    keyType: 'ec',
    curve: 'prime256v1',
    signatureAlgorithm: 'ecdsa-with-SHA256',
    fingerprint: fingerprintOf(leaf),
    intermediates: [],
    chainLength: 1,
    trust: [fingerprintOf(ca)],
    keyMatches: true,
  });
});

test('trust is sorted and holds each certificate once, so that equal trust reads equal', () => {
  const one = leafFacts(secret(leaf.pem, leaf.key, ca.pem + other.pem + ca.pem));
  const same = leafFacts(secret(leaf.pem, leaf.key, other.pem + ca.pem));
  assert.deepEqual(one.trust, [fingerprintOf(ca), fingerprintOf(other)].sort());
  assert.deepEqual(one.trust, same.trust);
  assert.equal(one.authorities.length, 3);
});

test('names are read in every kind that TLS matches, each in one spelling', async () => {
  const names = await peerLeaf(ca, {
    dnsNames: ['A.Example', '*.b.example'],
    ipAddresses: ['10.0.0.1', '2001:DB8:0::1'],
  });
  const facts = leafFacts(secret(names.pem, names.key, ca.pem));
  assert.deepEqual(facts.dnsNames, ['a.example', '*.b.example']);
  assert.deepEqual(facts.ipAddresses, ['10.0.0.1', '2001:db8::1']);
});

test('a name that pretends to be several is one strange name', async () => {
  const names = await peerLeaf(ca, { dnsNames: ['a.example, DNS:evil.example', 'b"c'] });
  const facts = leafFacts(secret(names.pem, names.key, ca.pem));
  assert.equal(facts.dnsNames.includes('evil.example'), false);
  assert.equal(facts.dnsNames.length, 2);
});

test('a subject with line breaks and control characters stays on one line', async () => {
  const strange = await peerLeaf(ca, { name: `c-0\r\nCN=root\u001b[2J${'x'.repeat(500)}` });
  const { subject } = leafFacts(secret(strange.pem, strange.key, ca.pem));
  assert.doesNotMatch(subject, /\p{C}/u);
  assert.ok(subject.length <= 201, `${subject.length} characters`);
});

for (const [usages, expected] of [
  [undefined, ['serverAuth', 'clientAuth']],
  [['clientAuth'], ['clientAuth']],
  [['codeSigning'], []],
] as const) {
  test(`extended key usages ${usages ?? 'left out'} allow ${expected.join(' and ') || 'nothing in TLS'}`, async () => {
    const made = await forge({
      name: 'x',
      by: ca,
      dnsNames: peerPlan.dnsNames,
      ...(usages === undefined ? {} : { usages }),
    });
    assert.deepEqual(leafFacts(secret(made.pem, made.key, ca.pem)).usages, expected);
  });
}

const ec = createPrivateKey(leaf.key);
const rsaLeaf = await peerLeaf(ca, { algorithm: 'RSA-2048' });
const rsa = createPrivateKey(rsaLeaf.key);
const edLeaf = await peerLeaf(ca, { algorithm: 'Ed25519' });
const intermediate = await forge({ name: 'between', by: ca, authority: true });
const crossEnd = days(1);
const bag = 'Bag Attributes\n    friendlyName: c-0\nsubject=CN = c-0\n';

const accepted: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'lines that end in CRLF': secret(crlf(leaf.pem), crlf(leaf.key), crlf(ca.pem)),
  'text before, between and after the blocks': secret(
    `${bag}${leaf.pem}\n# then\n${intermediate.pem}end`,
    `${bag}${leaf.key}\n`,
    `company root\n${ca.pem}\n\n`,
  ),
  'no line break at the end': secret(leaf.pem.trimEnd(), leaf.key.trimEnd(), ca.pem.trimEnd()),
  'blanks at the ends of lines': secret(leaf.pem.replaceAll('\n', ' \t\n'), leaf.key, ca.pem),
  'a key in SEC 1 behind its curve, as openssl ecparam writes it': secret(
    leaf.pem,
    `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${ec.export({ type: 'sec1', format: 'pem' })}`,
    ca.pem,
  ),
  'an RSA key in PKCS #1': secret(rsaLeaf.pem, rsa.export({ type: 'pkcs1', format: 'pem' }).toString(), ca.pem),
  'an Ed25519 key': secret(edLeaf.pem, edLeaf.key, ca.pem),
  'a certificate beside the key': secret(leaf.pem, leaf.pem + leaf.key, ca.pem),
  'further keys in the Secret': { ...good, 'keystore.p12': 'AAAA' },
};

for (const [what, data] of Object.entries(accepted)) {
  test(`${what}: accepted, and the key is that of the leaf`, () => {
    assert.equal(leafFacts(data).keyMatches, true);
  });
}

test('the key of another certificate is read, and told to be another one', () => {
  assert.equal(leafFacts(secret(leaf.pem, other.key, ca.pem)).keyMatches, false);
  assert.equal(leafFacts(secret(leaf.pem, rsaLeaf.key, ca.pem)).keyMatches, false);
});

test('what follows the leaf are its intermediates', () => {
  const facts = leafFacts(secret(leaf.pem + intermediate.pem + ca.pem, leaf.key, ca.pem));
  assert.equal(facts.chainLength, 3);
  assert.deepEqual(
    facts.intermediates.map(({ subject }) => subject),
    ['CN=between', 'CN=root'],
  );
});

test('exactly 16 certificates are read', () => {
  assert.equal(leafFacts({ ...good, 'ca.crt': base64(ca.pem.repeat(16)) }).authorities.length, 16);
});

test('the Secret of a CA tells whether a cross certificate of the same CA follows', async () => {
  const cross = await forge({ name: 'root', keys: ca.keys, by: other, authority: true, notAfter: crossEnd });
  const impostor = await forge({ name: 'root', by: other, authority: true });
  const noAuthority = await forge({ name: 'root', keys: ca.keys, by: other, authority: false });
  const of = (crt: string) => {
    const found = inspectAuthority(secret(crt, ca.key, ca.pem + other.pem));
    assert.equal(found.kind, 'readable');
    return found.authority;
  };
  assert.equal(of(ca.pem).crossed, false);
  assert.equal(of(ca.pem + impostor.pem).crossed, false);
  assert.equal(of(ca.pem + noAuthority.pem).crossed, false);
  assert.equal(of(ca.pem + ca.pem).crossed, false);
  const crossed = of(ca.pem + cross.pem);
  assert.equal(crossed.crossed, true);
  assert.equal(crossed.cross?.notAfter.getTime(), crossEnd.getTime());
  assert.equal(crossed.fingerprint, fingerprintOf(ca));
  assert.equal(crossed.keyMatches, true);
  assert.equal(crossed.isAuthority, true);
  assert.deepEqual(crossed.trust, [fingerprintOf(ca), fingerprintOf(other)].sort());
});

function fingerprintOf({ pem }: Forged): string {
  return new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();
}

function crlf(text: string): string {
  return text.replaceAll('\n', '\r\n');
}
