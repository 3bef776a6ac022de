import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { changed, fullCluster, fullFleet } from '../../unit/manifests/api-documents.ts';
import { shareApiServer } from '../shared-api-server.ts';

const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());

/**
 * Offline we are stricter on purpose: about what the schema preserves, a map's empty values, numbers that no double
 * holds.
 */
const stricter = /podTemplate|volumeClaimTemplate|is empty|is too large/;

/** What people get wrong: a value of the wrong sort, or a right one in another spelling. */
const value = fc.oneof(
  { arbitrary: fc.jsonValue({ maxDepth: 2 }), weight: 2 },
  fc.constantFrom('1Gi', '1gi', '0', '1e3', '1.5Gi', '.5Gi', '5.', '+1', '1E', '1e-1', '12e', '1K', '100m', '8Ei'),
  fc.constantFrom('1s', '1.5s', '1h1m', '1m1h', '.5s', '1.s', '1us', '1µs', '1d', '0s', '100ms', '1', 's'),
  fc.constantFrom('3.6.16', 'v3.6.16', '3.06.1', '3.6.016', '3.5.19', '3.5.019', '3.5.20', '3.5.1900', '3.7.00'),
  fc.constantFrom(
    'Retain',
    'Revision',
    'Periodic',
    'Disabled',
    'a.b',
    'a/b',
    'a:b',
    'é',
    '日本',
    '😀',
    'a\n',
    '\u0000',
    ' ',
  ),
  fc.constantFrom(
    'a@{b',
    '@',
    'a//b',
    'a.lock',
    'refs/heads/é',
    './a',
    'a/..b',
    '..a',
    '...',
    'http://a',
    'https://a:99999/',
    'HTTPS://a/',
  ),
  fc.constantFrom(
    '10.0.0.1/8',
    '10.0.0.0/8',
    '::/0',
    '1.2.3.4/33',
    '010.0.0.0/8',
    '::/0/0',
    '/',
    '::1.2.3.4/9',
    '1.2.3/8',
  ),
  fc.constantFrom(0, -0, 1, 7, 2 ** 31, 2 ** 53, 1e21, -1, 0.5, 1.0, true, '10%', '100%', '1 %'),
);

for (const document of [fullCluster, fullFleet]) {
  test(`whatever stands in a field of ${document.kind}, API server and offline validator agree`, async () => {
    const property = fc.asyncProperty(
      fc.constantFrom(...pathsOf(document.spec, 'spec/')),
      value,
      async (path, given) => {
        const bad = changed(document, path, given);
        const problems = validateDocument(bad);
        const { status, body } = await api.send('POST', `${pathFor(document.kind)}?dryRun=All`, bad);
        if (problems.some(({ message }) => stricter.test(message))) return;
        const said = JSON.stringify({ path, given, offline: problems, server: body.message });
        assert.equal(status === 201, problems.length === 0, said);
      },
    );
    await fc.assert(property, { numRuns: 500 });
  });
}

function pathFor(kind: 'EtcdCluster' | 'EtcdFleet'): string {
  return `/apis/etcd.ratchet.dev/v1alpha1/namespaces/default/${kind.toLowerCase()}s`;
}

function pathsOf(value: unknown, prefix: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [`${prefix}${key}`, ...pathsOf(inner, `${prefix}${key}/`)]);
}
