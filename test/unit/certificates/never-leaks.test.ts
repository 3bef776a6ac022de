import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keyIdsOf, pathLengthOf, rawNamesOf } from '../../../reconcile/x509/der.ts';
import { inspectAuthority, inspectLeaf } from '../../../reconcile/x509/inspect.ts';
import { defectsOf } from '../../../reconcile/x509/judge.ts';
import { decodeBase64, readPem, writePem } from '../../../reconcile/x509/pem.ts';
import { base64, forge, now, peerLeaf, peerPlan, root } from './forge.ts';

const ca = await root();
const leaf = await peerLeaf(ca);
const rsa = await forge({ name: 'rsa', algorithm: 'RSA-2048' });

/** Long enough never to turn up by chance, short enough to show a leak of a part. */
const secrets = [leaf.key, ca.key, rsa.key]
  .flatMap((key) => {
    const body = key.split('\n').slice(1, -2).join('');
    return Array.from({ length: Math.floor(body.length / 16) }, (_, n) => body.slice(n * 16, n * 16 + 16));
  })
  // The beginning of a key's encoding is the same for all keys, and the public part of an ECDSA key stands in its
  // certificate.
  .filter((part) => ![leaf.pem, ca.pem, rsa.pem].some((pem) => pem.replaceAll('\n', '').includes(part)));

const piece = fc.oneof(
  fc.constantFrom(
    leaf.pem,
    ca.pem,
    rsa.pem,
    leaf.key,
    ca.key,
    rsa.key,
    '\r\n',
    '\uFEFF',
    '\0',
    '-----BEGIN',
    'Proc-Type: 4,ENCRYPTED',
  ),
  fc
    .constantFrom('CERTIFICATE', 'EC PRIVATE KEY', 'RSA PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', '__proto__')
    .map((label) => leaf.key.replaceAll('PRIVATE KEY', label)),
  fc.string({ maxLength: 80 }),
);

/** Whole, cut, doubled and with single characters exchanged. */
const text = fc
  .tuple(
    fc.array(piece, { maxLength: 4 }),
    fc.option(fc.nat(4000)),
    fc.option(fc.tuple(fc.nat(1500), fc.string({ maxLength: 3 }))),
  )
  .map(([pieces, cut, change]) => {
    const whole = pieces.join('').slice(0, cut ?? undefined);
    if (change === null) return whole;
    const [at, instead] = change;
    return whole.slice(0, at) + instead + whole.slice(at + instead.length);
  });

const value = fc.oneof({ weight: 8, arbitrary: text.map(base64) }, text, fc.constantFrom(null, 7, {}, []));

const data = fc.record({ 'tls.crt': value, 'tls.key': value, 'ca.crt': value }, { requiredKeys: [] }) as fc.Arbitrary<
  Readonly<Record<string, string>>
>;

test('inspecting and judging any Secret never throws, and never says a part of a key', () => {
  assert.ok(secrets.length > 80);
  fc.assert(
    fc.property(data, (given) => {
      const said = JSON.stringify([
        inspectLeaf(given),
        inspectAuthority(given),
        defectsOf({ data: given, plan: peerPlan, now }),
      ]);
      for (const part of secrets) assert.equal(said.includes(part), false, part);
    }),
    { numRuns: 500 },
  );
});

test('a damaged certificate is refused or read, but never throws', () => {
  const der = Buffer.from(leaf.pem.split('\n').slice(1, -2).join(''), 'base64');
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(der.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }), (changes) => {
      const damaged = Buffer.from(der);
      for (const [at, byte] of changes) damaged[at] = byte;
      const pem = writePem('CERTIFICATE', damaged);
      const given = { 'tls.crt': base64(pem), 'tls.key': base64(leaf.key), 'ca.crt': base64(ca.pem + pem) };
      defectsOf({ data: given, plan: peerPlan, now });
      inspectAuthority(given);
    }),
    { numRuns: 1000 },
  );
});

test('DER that is none is read to no end, but to an end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      pathLengthOf(bytes);
      keyIdsOf(bytes);
      rawNamesOf(bytes);
    }),
  );
});

test('what is written as PEM is read back, whatever text and line ends surround it', () => {
  const label = fc.constantFrom('CERTIFICATE', 'PRIVATE KEY', 'EC PRIVATE KEY');
  const blocks = fc.array(fc.record({ label, der: fc.uint8Array({ minLength: 1, maxLength: 300 }) }), { maxLength: 5 });
  fc.assert(
    fc.property(blocks, fc.constantFrom('', 'words\n', '\n\n'), fc.boolean(), (written, between, windows) => {
      const unix = written.map((block) => between + writePem(block.label, block.der)).join('') + between;
      const reading = readPem(windows ? unix.replaceAll('\n', '\r\n') : unix);
      assert.equal(reading.kind, 'blocks');
      assert.deepEqual(
        reading.blocks.map((block) => ({ ...block, der: Buffer.from(block.der) })),
        written.map((block) => ({ ...block, der: Buffer.from(block.der) })),
      );
    }),
  );
});

test('base64 is taken strictly', () => {
  for (const bad of ['a', 'ab', 'abc', 'ab-_', 'ab==cd==', 'YQ ==', 'YQ==\n'])
    assert.equal(decodeBase64(bad), undefined, bad);
  assert.equal(decodeBase64('YQ==')?.toString(), 'a');
  assert.equal(decodeBase64('')?.length, 0);
});
