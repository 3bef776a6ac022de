import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatRevision, isSha, parseRevision } from '../../../gitops/git/revision.ts';

const sha = '0123456789abcdef0123456789abcdef01234567';

test('a revision is printed as Flux prints it', () => {
  assert.equal(formatRevision({ ref: 'main', sha }), `main@sha1:${sha}`);
});

test('whatever the ref, a printed revision reads back as itself', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.stringMatching(/^[0-9a-f]{40}$/), (ref, hex) => {
      assert.deepEqual(parseRevision(formatRevision({ ref, sha: hex })), { ref, sha: hex });
    }),
  );
});

for (const text of [
  '',
  'main',
  `main@sha1:${sha.slice(1)}`,
  `main@sha256:${sha}`,
  `@sha1:${sha}`,
  `main@sha1:${sha.toUpperCase()}`,
]) {
  test(`${JSON.stringify(text)} is no revision`, () => {
    assert.equal(parseRevision(text), undefined);
  });
}

test('a SHA has forty hexadecimal digits', () => {
  assert.ok(isSha(sha));
  assert.ok(!isSha(`${sha}0`));
  assert.ok(!isSha('main'));
});
