import assert from 'node:assert/strict';
import { test } from 'node:test';
import { days, type Forged, forge, only, peerLeaf, peerPlan, root, secret } from './forge.ts';
import { type Case, judge, testCases } from './judged.ts';

const ca = await root();
const other = await root('other');
const namesake = await root('root');
const leaf = await peerLeaf(ca);
const between = await forge({ name: 'between', by: ca, authority: true, pathLength: 0 });
const below = await peerLeaf(between);

test('a chain by way of an intermediate is sound', () => {
  assert.deepEqual(judge(secret(below.pem + between.pem, below.key, ca.pem)), []);
});

const cases: readonly Case[] = [
  [
    'a chain with the leaf last',
    async () => secret(between.pem + below.pem, below.key, ca.pem),
    ['KeyMismatch', 'MissingNames'],
  ],
  ['another CA', async () => only(leaf, other), ['ChainBroken'], /no certificate of its issuer "CN=root"/],
  ['another CA of the same name', async () => only(leaf, namesake), ['ChainBroken'], /another CA of the same name/],
  ['a missing intermediate', async () => only(below, ca), ['ChainBroken'], /no certificate of its issuer "CN=between"/],
  ['an intermediate in ca.crt, without its root', async () => only(below, between), []],
  [
    'a leaf in ca.crt',
    async () => secret(leaf.pem, leaf.key, ca.pem + leaf.pem),
    ['NotACertificateAuthority'],
    /"CN=c-0", which is no CA/,
  ],
  [
    'self-signed and trusting itself',
    async () => own(await forge({ name: 'c-0', dnsNames: peerPlan.dnsNames, authority: false })),
    ['NotACertificateAuthority', 'ChainBroken'],
  ],
  [
    'an expired CA',
    async () => signedBy(await root('old', { notAfter: days(-1) })),
    ['ChainBroken'],
    /issuer "CN=old" ended at 2030-05-31/,
  ],
  [
    'a CA that begins tomorrow',
    async () => signedBy(await root('new', { notBefore: days(1) })),
    ['ChainBroken'],
    /begins only at/,
  ],
  [
    'a CA that ends next week',
    async () => signedBy(await root('old', { notAfter: days(7) })),
    ['ExpiresSoon'],
    /rests on a CA that ends at 2030-06-08/,
  ],
  [
    'an RSA CA of 1024 bits',
    async () => signedBy(await root('weak', { algorithm: 'RSA-1024' })),
    ['ChainBroken'],
    /too weak/,
  ],
  [
    'an unneeded RSA CA of 1024 bits in the bundle',
    async () => secret(leaf.pem, leaf.key, (await root('weak', { algorithm: 'RSA-1024' })).pem + ca.pem),
    [],
  ],
  [
    'a signature with SHA-1',
    async () => signedBy(await root('sha1', { algorithm: 'RSA-2048-SHA1' })),
    ['ChainBroken'],
    /SHA-1/,
  ],
  [
    'a CA that may not sign certificates',
    async () => signedBy(await root('mute', { maySign: false })),
    ['NotACertificateAuthority', 'ChainBroken'],
    /which is no CA/,
  ],
  [
    'an issuer of another key identifier',
    async () => {
      const signer = await root('root', { subjectKeyId: 'aa' });
      return only(await peerLeaf(signer, { authorityKeyId: 'bb' }), signer);
    },
    ['ChainBroken'],
    /another key identifier/,
  ],
  [
    'a CA for clients only',
    async () => signedBy(await root('narrow', { usages: ['clientAuth'] })),
    ['ChainBroken'],
    /does not allow serverAuth/,
  ],
  [
    'an intermediate that is no CA',
    async () => through(await forge({ name: 'no-ca', by: ca, authority: false })),
    ['ChainBroken'],
    /is not that of a CA/,
  ],
  [
    'a CA whose path length is used up',
    async () => through(await forge({ name: 'deep', by: between, authority: true }), between),
    ['ChainBroken'],
    /allows 0 CAs below it, but there are 1/,
  ],
];

testCases(cases);

test('the way that lasts longest counts, whatever lies beside it', async () => {
  const old = await root('old', { notAfter: days(7) });
  const cross = await forge({ name: 'root', keys: ca.keys, by: old, authority: true, notAfter: days(7) });
  assert.deepEqual(judge(secret(leaf.pem + cross.pem, leaf.key, old.pem + ca.pem)), []);
  const [soon] = judge(secret(leaf.pem + cross.pem, leaf.key, old.pem));
  assert.equal(soon?.reason, 'ExpiresSoon');
});

test('sixteen CAs that all vouch for each other are judged at once', async () => {
  const loop = await Promise.all(
    Array.from({ length: 15 }, () => forge({ name: 'root', keys: ca.keys, authority: true, notAfter: days(3000) })),
  );
  const before = process.cpuUsage();
  const defects = judge(secret(leaf.pem + loop.map(({ pem }) => pem).join(''), leaf.key, other.pem));
  assert.deepEqual(
    defects.map(({ reason }) => reason),
    ['ChainBroken'],
  );
  const { user } = process.cpuUsage(before);
  assert.ok(user < 2_000_000, 'the search must not grow with every way through the chain');
});

function own(held: Forged) {
  return only(held, held);
}

async function signedBy(signer: Forged) {
  return only(await peerLeaf(signer), signer);
}

/** A leaf by that intermediate, with the whole chain, for who trusts the root. */
async function through(signer: Forged, ...above: readonly Forged[]) {
  const held = await peerLeaf(signer);
  return secret([held, signer, ...above].map(({ pem }) => pem).join(''), held.key, ca.pem);
}
