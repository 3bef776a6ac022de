import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GitError } from '../../../gitops/git/error.ts';
import { choose } from '../../../gitops/git/resolve.ts';
import { parseAdvertisement } from '../../../gitops/git/wire/advertisement.ts';
import { encodePacket } from '../../../gitops/git/wire/pktline.ts';

const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];
const url = 'https://git.example.com/r.git';
const refs = new Map([
  ['HEAD', a],
  ['refs/heads/main', a],
  ['refs/heads/v1', b],
  ['refs/tags/v1', c],
  ['refs/tags/v2', c],
  ['refs/tags/v2^{}', b],
  ['refs/pull/3/head', c],
]);

for (const [ref, sha, fullRef, tag] of [
  ['main', a, 'refs/heads/main'],
  ['HEAD', a, 'HEAD'],
  ['refs/heads/main', a, 'refs/heads/main'],
  ['heads/main', a, 'refs/heads/main'],
  ['refs/tags/v1', c, 'refs/tags/v1'],
  ['tags/v1', c, 'refs/tags/v1'],
  ['v2', b, 'refs/tags/v2', c],
  ['refs/pull/3/head', c, 'refs/pull/3/head'],
] as const) {
  test(`${ref} is ${fullRef}`, () => {
    assert.deepEqual(choose({ url, ref }, { refs, capabilities: [] }), { ref, sha, fullRef, ...(tag && { tag }) });
  });
}

test('a name that is both branch and tag is the branch, and it is said', () => {
  const { sha, note } = choose({ url, ref: 'v1' }, { refs, capabilities: [] });
  assert.equal(sha, b);
  assert.match(note ?? '', /both refs\/heads\/v1 and refs\/tags\/v1: refs\/heads\/v1 is used/);
});

test('a missing ref is told with the branches that there are', () => {
  assert.throws(
    () => choose({ url, ref: 'prod' }, { refs, capabilities: [] }),
    /no branch or tag prod; its branches are main, v1/,
  );
  assert.throws(() => choose({ url, ref: 'Main' }, { refs, capabilities: [] }), /there is a branch main/);
});

test('a peeled name cannot be asked for as if it were a ref', () => {
  assert.throws(() => choose({ url, ref: 'main^{}' }, { refs, capabilities: [] }), { reason: 'RefNotFound' });
});

test('a SHA-256 repository is refused with that reason', () => {
  const body = Buffer.from(encodePacket(`${'a'.repeat(64)} HEAD\0 object-format=sha256\n`));
  assert.throws(() => parseAdvertisement(body), /sha256 object names; only SHA-1/);
});

test('whatever a server sends, it is an advertisement or a BadAnswer', () => {
  const line = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f]{40} refs\/heads\/[a-z]{1,5}$/));
  const body = fc.oneof(
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.array(line).map((lines) => Buffer.from(lines.map(encodePacket).join(''))),
  );
  fc.assert(
    fc.property(body, (bytes) => {
      try {
        assert.ok(parseAdvertisement(bytes).refs instanceof Map);
      } catch (error) {
        assert.ok(error instanceof GitError && error.reason === 'BadAnswer', String(error));
      }
    }),
  );
});
