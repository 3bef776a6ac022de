import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayLeaf } from '../../../manifests/render/certificate-names.ts';
import { defectsOf, renewalTime } from '../../../reconcile/x509/judge.ts';
import { keyFlawOf } from '../../../reconcile/x509/keys.ts';
import {
  base64,
  days,
  forge,
  leafFacts,
  minutes,
  now,
  only,
  peerLeaf,
  peerPlan,
  root,
  secret,
  serverPlan,
} from './forge.ts';
import { type Case, judge, testCases } from './judged.ts';

const ca = await root();
const other = await root('other');
const leaf = await peerLeaf(ca);

test('a sound Secret has no defects', () => {
  assert.deepEqual(judge(secret(leaf.pem, leaf.key, ca.pem)), []);
});

test('facts and data are judged alike', () => {
  const data = secret(leaf.pem, other.key, other.pem);
  assert.deepEqual(defectsOf({ facts: leafFacts(data), plan: peerPlan, now }), judge(data));
});

for (const [what, data, reason, key] of [
  ['no Secret', undefined, 'SecretMissing', undefined],
  ['a Secret half written', { 'tls.crt': base64(leaf.pem) }, 'KeysMissing', undefined],
  ['a Secret with swapped keys', secret(leaf.key, leaf.pem, ca.pem), 'Unreadable', 'tls.crt'],
] as const) {
  test(`${what}: ${reason}, naming the Secret and what to do`, () => {
    const [defect, ...more] = judge(data);
    assert.deepEqual(more, []);
    assert.equal(defect?.reason, reason);
    assert.equal(defect.key, key);
    assert.match(defect.message, /Secret c-0-peer-tls/);
    assert.ok(defect.cure.length > 10);
  });
}

const by =
  (more: Parameters<typeof peerLeaf>[1], signer = ca) =>
  async () =>
    only(await peerLeaf(signer, more), ca);

const cases: readonly Case[] = [
  [
    'the key of another certificate',
    async () => secret(leaf.pem, other.key, ca.pem),
    ['KeyMismatch'],
    /tls\.key .* first certificate/,
  ],
  ['RSA with 1024 bits', by({ algorithm: 'RSA-1024' }), ['WeakKey'], /1024 bits/],
  ['RSA with 2048 bits', by({ algorithm: 'RSA-2048' }), []],
  ['Ed25519', by({ algorithm: 'Ed25519' }), []],
  [
    'expired a second ago',
    by({ notAfter: new Date(now.getTime() - 1000) }),
    ['Expired'],
    /ended at 2030-06-01T11:59:59/,
  ],
  ['beginning in 4 minutes, by a clock that is ahead', by({ notBefore: minutes(4) }), []],
  ['beginning in 6 minutes', by({ notBefore: minutes(6) }), ['NotYetValid'], /begins only at 2030-06-01T12:06:00/],
  ['clientAuth only', by({ usages: ['clientAuth'] }), ['MissingUsages'], /lacks the extended key usage serverAuth/],
  ['neither TLS usage', by({ usages: ['codeSigning'] }), ['MissingUsages'], /serverAuth and clientAuth/],
  [
    'another host name',
    by({ dnsNames: ['c-1-0.c-peers.payments.svc'] }),
    ['MissingNames'],
    /not valid for c-0-0\.c-peers\.payments\.svc/,
  ],
  ['no names', by({ dnsNames: [] }), ['MissingNames']],
  ['its host name in capitals', by({ dnsNames: ['C-0-0.C-PEERS.payments.svc'] }), []],
  [
    'a wildcard for its host, and the same with a cluster domain',
    by({ dnsNames: ['*.c-peers.payments.svc', '*.c-peers.payments.svc.example.org'] }),
    [],
  ],
  ['a wildcard for its host only', by({ dnsNames: ['*.c-peers.payments.svc'] }), ['WildcardPeerName'], /reverse DNS/],
  ['a wildcard two labels up', by({ dnsNames: ['*.payments.svc'] }), ['MissingNames']],
  ['a wildcard within a label', by({ dnsNames: ['c-0-*.c-peers.payments.svc'] }), ['MissingNames']],
  [
    'ending in 29 days of a year',
    by({ notBefore: days(-336), notAfter: days(29) }),
    ['ExpiresSoon'],
    /ends at 2030-06-30/,
  ],
  ['ending in 31 days of a year', by({ notBefore: days(-334), notAfter: days(31) }), []],
  ['ending in 5 hours of a day', by({ notBefore: minutes(-19 * 60), notAfter: minutes(5 * 60) }), []],
  ['ending in 3 hours of a day', by({ notBefore: minutes(-21 * 60), notAfter: minutes(3 * 60) }), ['ExpiresSoon']],
];

testCases(cases);

test('every defect is named at once, warnings last', async () => {
  const bad = await peerLeaf(ca, { algorithm: 'RSA-1024', dnsNames: [], usages: ['clientAuth'], notAfter: days(1) });
  assert.deepEqual(
    judge(secret(bad.pem, leaf.key, leaf.pem)).map(({ reason }) => reason),
    [
      'KeyMismatch',
      'WeakKey',
      'MissingUsages',
      'MissingNames',
      'NotACertificateAuthority',
      'ChainBroken',
      'ExpiresSoon',
    ],
  );
});

test("how far clocks may differ is the caller's choice", async () => {
  const data = only(await peerLeaf(ca, { notBefore: minutes(4) }), ca);
  const [defect] = defectsOf({ data, plan: peerPlan, now, skewMs: 60_000 });
  assert.equal(defect?.reason, 'NotYetValid');
});

test('a server leaf needs its pod and the client Service, not localhost', async () => {
  const named = (dnsNames: readonly string[]) => forge({ name: 'c-0', by: ca, dnsNames });
  const [host = '', service = ''] = serverPlan.dnsNames;
  const enough = await named([host, service]);
  assert.deepEqual(defectsOf({ data: only(enough, ca), plan: serverPlan, now }), []);
  const wild = await named(['*.c-peers.payments.svc', '*.payments.svc']);
  assert.deepEqual(defectsOf({ data: only(wild, ca), plan: serverPlan, now }), []);
  const [defect] = defectsOf({ data: only(await named([host]), ca), plan: serverPlan, now });
  assert.match(defect?.message ?? '', /c-0-server-tls is not valid for c\.payments\.svc$/);
});

test('a leaf for the gateway may lack its name, and must have no common name', async () => {
  const plan = gatewayLeaf({ namespace: 'payments', cluster: 'c' });
  const reasons = async (name: string) => {
    const made = await forge({ name, by: ca, usages: ['clientAuth'] });
    return defectsOf({ data: only(made, ca), plan, now }).map(({ reason }) => reason);
  };
  assert.deepEqual(await reasons(''), []);
  assert.deepEqual(await reasons('gateway.c.payments'), ['HasCommonName']);
});

for (const [keyType, curve, bits, reason] of [
  ['rsa', undefined, 2047, 'WeakKey'],
  ['rsa', undefined, 4096, undefined],
  ['rsa-pss', undefined, 4096, 'UnsupportedKey'],
  ['dsa', undefined, 2048, 'UnsupportedKey'],
  ['ec', 'prime192v1', undefined, 'WeakKey'],
  ['ec', 'secp224r1', undefined, 'WeakKey'],
  ['ec', 'prime256v1', undefined, undefined],
  ['ec', 'secp384r1', undefined, undefined],
  ['ec', 'secp521r1', undefined, undefined],
  ['ec', 'secp256k1', undefined, 'UnsupportedKey'],
  ['ec', undefined, undefined, 'UnsupportedKey'],
  ['ed448', undefined, undefined, 'UnsupportedKey'],
] as const) {
  test(`a key of type ${keyType}${curve === undefined ? '' : ` on ${curve}`}${bits === undefined ? '' : ` with ${bits} bits`}: ${reason ?? 'fine'}`, () => {
    const { curve: _, ...facts } = leafFacts(secret(leaf.pem, leaf.key, ca.pem));
    const flaw = keyFlawOf({
      ...facts,
      keyType,
      ...(curve === undefined ? {} : { curve }),
      ...(bits === undefined ? {} : { bits }),
    });
    assert.equal(flaw?.reason, reason);
  });
}

test('a certificate is renewed after two thirds of its life', () => {
  assert.deepEqual(renewalTime({ notBefore: days(0), notAfter: days(90) }), days(60));
});
