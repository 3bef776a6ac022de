import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withDefaults } from '../../../manifests/api/defaults.ts';
import { isDuration, parseDuration } from '../../../manifests/api/duration.ts';
import { compareQuantities, isQuantity, parseQuantity } from '../../../manifests/api/quantity.ts';
import { suggest } from '../../../manifests/api/suggest.ts';
import { compareVersions, formatVersion, isSupportedVersion, parseVersion } from '../../../manifests/api/version.ts';
import { warningsFor } from '../../../manifests/api/warnings.ts';
import { cluster, fleet, fullCluster, namedCluster } from './api-documents.ts';

for (const [text, value] of [
  ['8Gi', 8 * 2 ** 30],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['500m', 0.5],
  ['1e3', 1000],
  ['1E', 1e18],
  ['2k', 2000],
  ['.5', 0.5],
  ['+1', 1],
  [1024, 1024],
] as const) {
  test(`the quantity ${text} is ${value}`, () => assert.equal(parseQuantity(text), value));
}

for (const text of ['', 'Gi', '8GB', '8gi', '8 Gi', '0x8', '1e', '1e999', 'NaN', 'Infinity', '1'.repeat(65)]) {
  test(`${JSON.stringify(text)} is no quantity`, () => {
    assert.equal(isQuantity(text), false);
    assert.throws(() => parseQuantity(text), RangeError);
  });
}

test('quantities compare by value, not by spelling', () => {
  assert.equal(compareQuantities('1Gi', '1024Mi'), 0);
  assert.ok(compareQuantities('1G', '1Gi') < 0);
});

for (const [text, milliseconds] of [
  ['2m', 120_000],
  ['100ms', 100],
  ['1h30m', 5_400_000],
  ['1.5s', 1500],
  ['1us', 0.001],
] as const) {
  test(`the duration ${text} is ${milliseconds} ms`, () => assert.equal(parseDuration(text), milliseconds));
}

for (const text of ['', '2', '-2m', '2 m', '1d', 'm', '99999999999999999999h']) {
  test(`${JSON.stringify(text)} is no duration`, () => {
    assert.equal(isDuration(text), false);
    assert.throws(() => parseDuration(text), RangeError);
  });
}

test('a version reads with and without its v', () => {
  assert.deepEqual(parseVersion('v3.6.16'), parseVersion('3.6.16'));
  assert.equal(formatVersion(parseVersion('v3.6.16')), '3.6.16');
});

test('versions are ordered by number, not by spelling', () => {
  const version = fc.record({ major: fc.nat(99), minor: fc.nat(99), patch: fc.nat(999) });
  fc.assert(
    fc.property(version, version, (a, b) => {
      const [x, y] = [a, b].map(({ major, minor, patch }) => major * 1e6 + minor * 1e3 + patch);
      assert.equal(Math.sign(compareVersions(a, b)), Math.sign((x ?? 0) - (y ?? 0)));
      assert.deepEqual(parseVersion(formatVersion(a)), { ...a });
    }),
  );
  assert.ok(compareVersions(parseVersion('3.6.9'), parseVersion('3.6.16')) < 0);
});

for (const text of ['3.6', '3.6.1.2', 'V3.6.1', '3.6.x', '', '3.6.0-rc.1', '3.6.99999']) {
  test(`${JSON.stringify(text)} is no version`, () => {
    assert.throws(() => parseVersion(text), RangeError);
    assert.equal(isSupportedVersion(text), false);
  });
}

test('an object gets the defaults of birth and of data, and none that a release may change', () => {
  assert.deepEqual(withDefaults(cluster).spec, {
    ...cluster.spec,
    tls: { mode: 'Managed' },
    volumeRetention: {
      whenDeleted: 'Retain',
      whenScaled: 'Delete',
      whenReplaced: { policy: 'Delete', keepFor: '24h' },
    },
    suspend: false,
  });
});

test('defaults change nothing that is set, nor the object they are given', () => {
  const before = structuredClone(fullCluster);
  assert.deepEqual(withDefaults(fullCluster), fullCluster);
  assert.deepEqual(fullCluster, before);
});

test('one default of a group does not bring the others into what is set', () => {
  const some = { ...cluster, spec: { ...cluster.spec, volumeRetention: { whenScaled: 'Retain' } } } as const;
  assert.deepEqual(withDefaults(some).spec.volumeRetention, {
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
    whenReplaced: { policy: 'Delete', keepFor: '24h' },
  });
});

for (const [title, spec, says] of [
  ['an even number of members', { replicas: 4 }, 'survive no more failures than 3'],
  ['more than seven members', { replicas: 9 }, 'more than 7'],
  ['a patch with known bugs', { version: '3.5.20' }, 'older than 3.5.26'],
  ['pods that are deleted by force', { podTemplate: { spec: { terminationGracePeriodSeconds: 0 } } }, 'may still run'],
  ['a quota beyond what the volume bears', { etcd: { quotaBackendBytes: '7Gi' } }, 'more than 3840Mi'],
  ['a volume that the log fills', { storage: { size: '200Mi' } }, 'less than 256Mi'],
  ['a patch with an advisory', { version: '3.6.13' }, 'older than 3.6.14: it lets a user'],
  [
    'one issuer for members and clients',
    { tls: { mode: 'CertManager', certManager: { issuerRef: { name: 'ca' } } } },
    'is enough to join as a member',
  ],
  [
    'a prefix that ends in the middle of a name',
    { auth: { mode: 'Enabled', roles: [{ name: 'a', rights: [{ prefix: '/a', access: 'Read' }] }] } },
    'does not end in a separator: /a covers /aa as well',
  ],
  ['a large quota', { storage: { size: '64Gi' }, etcd: { quotaBackendBytes: '10Gi' } }, 'the most that etcd advises'],
] as const) {
  test(`${title} is worth a warning`, () => {
    const [warning] = warningsFor({ ...cluster, spec: { ...cluster.spec, ...spec } });
    assert.ok(warning?.message.includes(says), warning?.message);
  });
}

test('with names, one issuer for members and clients is worth no warning', () => {
  assert.deepEqual(warningsFor(namedCluster), []);
});

test('the good documents are worth no warning', () => {
  assert.deepEqual([...warningsFor(cluster), ...warningsFor(fleet)], []);
});

test('a status in a document is pointed out', () => {
  assert.deepEqual(warningsFor({ ...cluster, status: { observedGeneration: 1 } })[0]?.path, ['status']);
});

for (const [word, meant] of [
  ['relpicas', 'replicas'],
  ['Replicas', 'replicas'],
  ['storge', 'storage'],
  ['xyz', undefined],
  ['', undefined],
] as const) {
  test(`${JSON.stringify(word)} suggests ${meant}`, () => {
    assert.equal(suggest(word, ['replicas', 'storage', 'version']), meant);
  });
}
