import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { inspectAuthority, inspectLeaf } from '../../../reconcile/x509/inspect.ts';
import { base64, peerLeaf, root, secret } from './forge.ts';

const ca = await root();
const other = await root('other');
const leaf = await peerLeaf(ca);
const good = secret(leaf.pem, leaf.key, ca.pem);
const ec = createPrivateKey(leaf.key);
const encrypted = ec.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString();
const oldEncrypted = ec.export({ type: 'sec1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString();
const dsa = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).privateKey;
const half = (text: string) => text.slice(0, text.length / 2);
const longer = Buffer.concat([new X509Certificate(leaf.pem).raw, Buffer.from('more')]).toString('base64');

const refused: readonly (readonly [
  what: string,
  data: Readonly<Record<string, string>>,
  key: string,
  words: RegExp,
])[] = [
  [
    'a certificate cut off in the middle',
    { ...good, 'tls.crt': base64(half(leaf.pem)) },
    'tls.crt',
    /middle of a block/,
  ],
  ['a key cut off in the middle', { ...good, 'tls.key': base64(half(leaf.key)) }, 'tls.key', /middle of a block/],
  [
    'a bundle cut off in its second certificate',
    { ...good, 'ca.crt': base64(ca.pem + half(other.pem)) },
    'ca.crt',
    /middle of a block/,
  ],
  [
    'a bundle that lost lines',
    { ...good, 'ca.crt': base64(ca.pem.replace(/\n.{64}\n.{64}\n/, '\n')) },
    'ca.crt',
    /no X\.509 certificate/,
  ],
  [
    'a block that another interrupts',
    { ...good, 'tls.crt': base64(half(leaf.pem) + leaf.pem) },
    'tls.crt',
    /cut off or damaged/,
  ],
  ['an indented certificate', { ...good, 'tls.crt': base64(leaf.pem.replace(/^/gm, '  ')) }, 'tls.crt', /indented/],
  ['a byte order mark', { ...good, 'tls.crt': base64(`\uFEFF${leaf.pem}`) }, 'tls.crt', /byte order mark/],
  ['an END without a BEGIN', { ...good, 'tls.crt': base64(leaf.pem.slice(30)) }, 'tls.crt', /END line without/],
  ['swapped keys', secret(leaf.key, leaf.pem, ca.pem), 'tls.crt', /private key .* swapped/],
  [
    'a certificate as the key',
    { ...good, 'tls.key': good['tls.crt'] ?? '' },
    'tls.key',
    /certificate where .* swapped/,
  ],
  ['a private key in the bundle', { ...good, 'ca.crt': base64(ca.pem + leaf.key) }, 'ca.crt', /private key where only/],
  [
    'a request instead of a certificate',
    { ...good, 'tls.crt': base64(relabel(leaf.pem, 'CERTIFICATE REQUEST')) },
    'tls.crt',
    /not a CERTIFICATE/,
  ],
  ['words instead of PEM', { ...good, 'ca.crt': base64('changeme') }, 'ca.crt', /no PEM block/],
  [
    'an empty block',
    { ...good, 'ca.crt': base64('-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n') },
    'ca.crt',
    /not base64/,
  ],
  ['base64 that is none', { ...good, 'ca.crt': 'not base64!' }, 'ca.crt', /not base64/],
  ['base64 twice', { ...good, 'tls.crt': base64(base64(leaf.pem)) }, 'tls.crt', /twice/],
  ['PEM inside of PEM', { ...good, 'tls.crt': base64(block('CERTIFICATE', base64(leaf.pem))) }, 'tls.crt', /no X\.509/],
  ['bytes behind a certificate', { ...good, 'tls.crt': base64(block('CERTIFICATE', longer)) }, 'tls.crt', /no X\.509/],
  ['a number instead of a string', { ...good, 'tls.crt': 7 as unknown as string }, 'tls.crt', /not a string/],
  ['a key with a passphrase', { ...good, 'tls.key': base64(encrypted) }, 'tls.key', /passphrase/],
  ['an old-style key with a passphrase', { ...good, 'tls.key': base64(oldEncrypted) }, 'tls.key', /passphrase/],
  ['two keys', { ...good, 'tls.key': base64(leaf.key + other.key) }, 'tls.key', /several private keys/],
  [
    'an old-style DSA key',
    { ...good, 'tls.key': base64(relabel(dsa.export({ type: 'pkcs8', format: 'pem' }).toString(), 'DSA PRIVATE KEY')) },
    'tls.key',
    /kind that etcd cannot use/,
  ],
  ['a key that is no key', { ...good, 'tls.key': base64(block('PRIVATE KEY', 'AAAA')) }, 'tls.key', /cannot be read/],
  ['17 certificates', { ...good, 'ca.crt': base64(ca.pem.repeat(17)) }, 'ca.crt', /more than 16/],
  ['more than 256 KiB', { ...good, 'ca.crt': base64(' '.repeat(256 * 1024) + ca.pem) }, 'ca.crt', /256 KiB/],
];

for (const [what, data, key, words] of refused) {
  test(`${what}: refused, with the key and the problem named`, () => {
    for (const inspect of [inspectLeaf, inspectAuthority]) {
      const found = inspect(data);
      assert.equal(found.kind, 'unreadable');
      assert.equal(found.key, key);
      assert.match(found.problem, words);
    }
  });
}

test('a Secret that is half written names what is missing, an empty value counts as missing', () => {
  const { 'tls.key': _, ...half } = good;
  assert.deepEqual(inspectLeaf({}), { kind: 'missing-keys', keys: ['tls.crt', 'tls.key', 'ca.crt'] });
  assert.deepEqual(inspectLeaf({ ...half, 'ca.crt': '' }), { kind: 'missing-keys', keys: ['tls.key', 'ca.crt'] });
  assert.deepEqual(inspectAuthority(half), { kind: 'missing-keys', keys: ['tls.key'] });
});

function relabel(pem: string, label: string): string {
  return pem.replace(/(BEGIN|END) [A-Z ]+-/g, `$1 ${label}-`);
}

function block(label: string, content: string): string {
  return `-----BEGIN ${label}-----\n${content}\n-----END ${label}-----\n`;
}
