import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension, Pkcs10CertificateRequest } from '@peculiar/x509';
import type { LeafPlan } from '../../../manifests/render/certificate-names.ts';
import { signCertificate } from '../../../reconcile/clients/x509.ts';
import { factsOf as certificateFacts } from '../../../reconcile/x509/facts.ts';
import { type AuthorityFacts, inspectAuthority } from '../../../reconcile/x509/inspect.ts';
import { behindLeaf, intermediateKey } from '../../../reconcile/x509/intermediate.ts';
import { type Authority, createAuthority, issueLeaf, requestFor } from '../../../reconcile/x509/issue.ts';
import { judgeIntermediate } from '../../../reconcile/x509/judge-intermediate.ts';
import { writePem } from '../../../reconcile/x509/pem.ts';
import { authorityData, authorityOf, leafData } from '../../../reconcile/x509/secret-data.ts';
import { intermediateOf, rootAuthority } from '../../e2e/support/signed-requests.ts';

const day = 86_400_000;
const now = new Date('2026-03-01T00:00:00Z');
const inDays = (days: number) => new Date(now.getTime() + days * day);
const life = { notBefore: inDays(-10), notAfter: inDays(1000) };
const made = await createAuthority({ commonName: 'orders client CA', ...life });
const company = rootAuthority('company', life);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const signed = intermediateOf(made, company, life);

function factsOf(authority: Authority, intermediate?: string): AuthorityFacts {
  const data = authorityData(authority, [authority.certificate]);
  const found = inspectAuthority({ ...data, ...(intermediate !== undefined && { [intermediateKey]: intermediate }) });
  return found.kind === 'readable' ? found.authority : assert.fail(found.kind);
}

test('a request for a CA is what another program reads: its name, its key, its usages, and a CA', async () => {
  const asked = new Pkcs10CertificateRequest(await requestFor(made));
  assert.ok(await asked.verify());
  assert.equal(asked.subject, factsOf(made).subject);
  const usages = asked.extensions.find((one) => one instanceof KeyUsagesExtension);
  assert.equal(usages?.usages, KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign);
  const limits = asked.extensions.find((one) => one instanceof BasicConstraintsExtension);
  assert.deepEqual([limits?.ca, limits?.pathLength], [true, undefined]);
});

describe('what an issuer signed', () => {
  const flawOf = (certificate: string, ca?: string) =>
    judgeIntermediate({ certificate, ...(ca !== undefined && { ca }) }, factsOf(made), now).flaw;

  test('is good where it leads from our key to the CA of its issuer', async () => {
    assert.equal(flawOf(signed, base64(company.certificate)), undefined);
    assert.equal(flawOf(signed), undefined, 'an issuer may say nothing of its CA');
  });

  for (const [what, build, says] of [
    ['a leaf', async () => base64(await leafOf(made)), /^is not the certificate of a CA$/],
    ['our own certificate', async () => base64(made.certificate), /^is of another key, or signed by itself$/],
    [
      'that of another name',
      async () => intermediateOf(await another(), company, life),
      /^names "CN=other .*" instead of/,
    ],
    ['of the same name, and another key', namesake, /^is of another key, or signed by itself$/],
    ['ended', async () => intermediateOf(made, company, { ...life, notAfter: inDays(-1) }), /^ended at 2026-02-28/],
    ['not begun', async () => intermediateOf(made, company, { ...life, notBefore: inDays(1) }), /^begins only at/],
    ['nothing', async () => '', /holds no PEM block/],
    ['no base64', async () => '%', /is not base64/],
    ['without end', async () => base64(randomBytes(300_000).toString('hex')), /is larger than 256 KiB/],
    ['a key', async () => base64(made.key), /holds a private key/],
  ] as const) {
    test(`${what} is of no use, and says why`, async () => {
      assert.match(flawOf(await build(), base64(company.certificate)) ?? 'it has no flaw', says);
    });
  }

  test('is of no use below a CA that lets no other be below it, or that did not sign it', async () => {
    const short = await createAuthority({ commonName: 'short', ...life });
    const below = await createAuthority({ commonName: 'below', ...life, previous: short });
    const barred: Authority = { certificate: below.cross ?? '', key: below.key };
    const flaw = flawOf(intermediateOf(made, barred, life), base64(barred.certificate));
    assert.match(flaw ?? '', /^cannot be used: "CN=below .*" allows 0 CAs below it$/);
    const stranger = rootAuthority('stranger', life);
    const led = flawOf(signed, base64(stranger.certificate));
    assert.match(led ?? '', /^does not lead to the CA of its issuer: there is no certificate of its issuer/);
  });

  test('is of no use where a leaf with it behind could be read no more', () => {
    const ca = base64(company.certificate);
    assert.equal(flawOf(padded(5), ca), undefined);
    assert.equal(flawOf(padded(6), ca), 'holds 6 certificates, and may hold 5 at most');
    assert.equal(flawOf(padded(1, 17), ca), 'is larger than 16 KiB of PEM');
  });

  test('may bring along the root of its issuer, below which two CAs do not fit', async () => {
    const root = await createAuthority({ commonName: 'root', ...life });
    const ca = base64(root.certificate);
    const withRoot = base64(plain(intermediateOf(made, root, life)) + root.certificate);
    assert.equal(factsOf(root).pathLength, 1);
    assert.equal(flawOf(withRoot, ca), undefined);
    assert.equal(flawOf(withRoot), undefined, 'nothing says where it ends');
    const sub = await createAuthority({ commonName: 'sub', ...life });
    const below = plain(intermediateOf(sub, root, life));
    const deep = plain(intermediateOf(made, { ...sub, certificate: below }, life)) + below;
    assert.match(flawOf(base64(deep), ca) ?? '', /"CN=root .*" allows 1 CAs below it/);
    assert.match(flawOf(base64(deep + root.certificate)) ?? '', /"CN=root .*" allows 1 CAs below it/);
    assert.equal(flawOf(base64(deep), base64(below)), undefined, 'what is above the trusted one does not count');
    assert.equal(flawOf(base64(deep + root.certificate), base64(below)), undefined);
  });

  function another(): Promise<Authority> {
    return createAuthority({ commonName: 'other', ...life });
  }

  async function namesake(): Promise<string> {
    const der = signCertificate({
      commonName: factsOf(made).subject.slice(3),
      serialNumber: new Uint8Array([0x41, ...randomBytes(15)]),
      ...life,
      publicKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey,
      issuer: new X509Certificate(company.certificate),
      signingKey: createPrivateKey(company.key),
      profile: { kind: 'authority' },
    });
    return base64(writePem('CERTIFICATE', der));
  }
});

describe('beside a CA', () => {
  test('counts what was signed for it, or for the one before that vouches for it; nothing else', async () => {
    const next = await createAuthority({ commonName: 'orders client CA', ...life, previous: made });
    const alone = await createAuthority({ commonName: 'orders client CA', ...life });
    assert.equal(factsOf(made, signed).intermediate?.current, true);
    assert.equal(factsOf(next, signed).intermediate?.current, false);
    for (const useless of [undefined, '', '%', base64('-----BEGIN'), base64(company.certificate)]) {
      assert.equal(factsOf(made, useless).intermediate, undefined);
      const data = { ...authorityData(made, []), ...(useless !== undefined && { [intermediateKey]: useless }) };
      assert.equal(authorityOf(data).intermediate, undefined);
    }
    assert.equal(factsOf(alone, signed).intermediate, undefined, 'a CA that nothing leads to');
  });

  test('counts nothing that leaves cannot bear, also where an earlier version stored it', () => {
    for (const [stored, counts] of [
      [padded(5), true],
      [padded(6), false],
      [padded(16), false],
      [padded(1, 17), false],
    ] as const) {
      assert.equal(factsOf(made, stored).intermediate !== undefined, counts);
      const data = { ...authorityData(made, []), [intermediateKey]: stored };
      assert.equal(authorityOf(data).intermediate !== undefined, counts);
    }
  });

  test('it stands behind leaves of servers, as long as it lasts, in an order that leads on', async () => {
    const [mine, before] = [
      { chain: ['signed'] as const, current: true },
      { chain: ['old'] as const, current: false },
    ];
    assert.deepEqual(behindLeaf('server', { cross: 'cross', intermediate: mine }), ['signed', 'cross']);
    assert.deepEqual(behindLeaf('server', { cross: 'cross', intermediate: before }), ['cross', 'old']);
    for (const purpose of ['peer', 'reconciler', 'application'] as const) {
      assert.deepEqual(behindLeaf(purpose, { cross: 'cross', intermediate: mine }), ['cross']);
    }
    const authority = authorityOf({ ...authorityData(made, []), [intermediateKey]: signed });
    assert.equal((await leafOf(authority)).split('BEGIN').length - 1, 2);
    const ended = intermediateOf(made, company, { ...life, notAfter: inDays(-1) });
    const past = authorityOf({ ...authorityData(made, []), [intermediateKey]: ended });
    assert.equal((await leafOf(past)).split('BEGIN').length - 1, 1);
  });

  for (const [naming, names] of [
    ['sha256', true],
    ['sha1', false],
  ] as const) {
    test(`a leaf and the next CA follow both of its certificates, called by ${naming}`, async () => {
      const pem = intermediateOf(made, company, life, naming);
      const authority = authorityOf({ ...authorityData(made, []), [intermediateKey]: pem });
      const { cross = '' } = await createAuthority({ commonName: 'next', ...life, previous: authority });
      const elsewhere = new X509Certificate(plain(pem));
      for (const one of [new X509Certificate(await leafOf(authority)), new X509Certificate(cross)]) {
        assert.deepEqual(
          [elsewhere, new X509Certificate(made.certificate)].map((ca) => one.checkIssued(ca)),
          [true, true],
        );
        assert.equal('issuerKeyId' in certificateFacts(one), names);
      }
      assert.ok('issuerKeyId' in certificateFacts(new X509Certificate(await leafOf(authority, 'peer'))), 'for members');
    });
  }

  test('its key is in no other Secret, and in no request', async () => {
    const key = made.key.split('\n')[1] ?? '';
    assert.ok(!Buffer.from(await requestFor(made)).includes(key));
    assert.ok(!JSON.stringify(leafData({ certificate: await leafOf(made), key: 'x' }, [])).includes(key));
  });
});

function plain(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString();
}

/** What the company signed, with others behind it up to that number, and so many KiB of text around them. */
function padded(certificates: number, kibibytes = 0): string {
  const others = Array.from({ length: certificates - 1 }, () => company.certificate).join('');
  return base64(`${plain(signed)}${others}${'# notes\n'.repeat(kibibytes * 128)}`);
}

const plan: LeafPlan = {
  purpose: 'server',
  authority: 'client',
  secretName: 'orders-0-server-tls',
  commonName: 'orders-0',
  dnsNames: ['localhost'],
  ipAddresses: [],
  usages: ['serverAuth'],
};

async function leafOf(authority: Authority, purpose: LeafPlan['purpose'] = 'server'): Promise<string> {
  return (await issueLeaf({ ...plan, purpose }, authority, { notBefore: now, notAfter: inDays(90) })).certificate;
}
