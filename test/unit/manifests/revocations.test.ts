import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AsnConvert } from '@peculiar/asn1-schema';
import { CertificateList } from '@peculiar/asn1-x509';
import fc from 'fast-check';
import { plainSerial, revocations, revokedSerials } from '../../../manifests/render/revocations.ts';
import { clusterOf } from './build-fixtures.ts';

/** The list of refused clients, read by a library; by etcd itself in test/integration/manifests-build. */

const hex = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('hex'));

function listOf(serials: readonly string[]): CertificateList {
  const made = revocations(clusterOf({ tls: { revokedClientSerials: serials } }));
  return AsnConvert.parse(Buffer.from(made.binaryData?.['clients.crl'] ?? '', 'base64'), CertificateList);
}

function serialsIn({ tbsCertList }: CertificateList): readonly bigint[] {
  return (tbsCertList.revokedCertificates ?? []).map(({ userCertificate }) =>
    BigInt(`0x${Buffer.from(userCertificate).toString('hex')}`),
  );
}

const asNumbers = (serials: readonly string[]) => new Set(serials.map((serial) => BigInt(`0x${serial}`)));

test('a list holds each serial number once, whatever its length', () => {
  fc.assert(
    fc.property(fc.array(hex, { maxLength: 40 }), (serials) => {
      const found = serialsIn(listOf(serials));
      assert.deepEqual(new Set(found), asNumbers(serials));
      assert.equal(found.length, new Set(found).size);
    }),
  );
  const many = Array.from({ length: 1000 }, (_, index) => (2n ** 159n + BigInt(index)).toString(16));
  assert.equal(serialsIn(listOf(many)).length, 1000);
});

test('of one number there is one spelling, with colons or without, and in any case', () => {
  fc.assert(
    fc.property(hex, fc.nat(3), (serial, zeros) => {
      const padded = '00'.repeat(zeros) + serial;
      const colons = padded.toUpperCase().replace(/..(?=.)/g, '$&:');
      assert.equal(plainSerial(colons), plainSerial(serial));
      assert.equal(BigInt(`0x${plainSerial(serial)}`), BigInt(`0x${serial}`));
    }),
  );
  assert.deepEqual(revokedSerials(clusterOf({ tls: { revokedClientSerials: ['0A', 'a', '00:0a', '0'] } })), [
    '00',
    '0a',
  ]);
});

test('an empty list has no entries at all, and says that it is not signed', () => {
  const { tbsCertList, signatureAlgorithm } = listOf([]);
  assert.equal(tbsCertList.revokedCertificates, undefined);
  assert.equal(signatureAlgorithm.algorithm, '1.3.6.1.5.5.7.6.36');
  assert.equal(tbsCertList.signature.algorithm, signatureAlgorithm.algorithm);
});

test('the same spec makes the same bytes, in any order', () => {
  const made = (revokedClientSerials: string[]) => revocations(clusterOf({ tls: { revokedClientSerials } }));
  assert.deepEqual(made(['0a', '0b']), made(['0B', '0A', '0a']));
  assert.notDeepEqual(made(['0a']).binaryData, made(['0b']).binaryData);
});
