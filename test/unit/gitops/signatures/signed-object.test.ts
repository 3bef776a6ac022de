import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommitObject, readTagObject } from '../../../../gitops/signatures/signed-object.ts';

const sha = 'a'.repeat(40);
const parent = 'b'.repeat(40);
const person = 'Ada <ada@example.com> 1793527200 +0000';
const signature = 'gpgsig -----BEGIN SSH SIGNATURE-----\n AAAA\n -----END SSH SIGNATURE-----\n';
const head = `tree ${sha}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n`;

function read(text: string | Buffer) {
  return readCommitObject(Buffer.from(text as string, 'latin1'));
}

function refusal(reason: string, message: RegExp) {
  return { name: 'SignatureRefusal', reason, message };
}

test('the payload is every byte of the commit but its signature', () => {
  const commit = read(`${head}encoding ISO-8859-1\n${signature}\nhéllo\n`);
  const { payload, signature: found, at } = commit.signed();
  assert.equal(payload.toString('latin1'), `${head}encoding ISO-8859-1\n\nhéllo\n`);
  assert.equal(found, '-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----');
  assert.equal(at, 1793527200);
  assert.deepEqual([commit.tree, commit.parents], [sha, [parent]]);
});

test('a signature within a merged tag, or within the message, is none of the commit', () => {
  const mergetag = `mergetag object ${sha}\n type commit\n tag v1\n \n gpgsig no\n -----BEGIN SSH SIGNATURE-----\n`;
  assert.throws(() => read(`${head}${mergetag}\nhello\n`).signed(), refusal('CommitNotSigned', /^is not signed$/));
  assert.throws(() => read(`${head}\n${signature}`).signed(), refusal('CommitNotSigned', /^is not signed$/));
  const both = read(`${head}${mergetag}${signature}\nhello\n`).signed();
  assert.equal(both.payload.toString(), `${head}${mergetag}\nhello\n`);
});

test('the signature of the other hash is left out of the payload, as git leaves it out', () => {
  const other = signature.replace('gpgsig', 'gpgsig-sha256');
  assert.equal(read(`${head}${signature}${other}\nhello`).signed().payload.toString(), `${head}\nhello`);
  assert.throws(() => read(`${head}${other}\nhello`).signed(), refusal('CommitNotSigned', /./));
});

const odd: Readonly<Record<string, readonly [text: string, why: RegExp]>> = {
  'two signatures': [`${head}${signature}${signature}\nhello`, /more than one signature/],
  'a signature before the tree': [`${signature}${head}\nhello`, /Git does not write so/],
  'a signature before the parents': [head.replace('parent', `${signature}parent`), /Git does not write so/],
  'a second tree after the author': [`${head}tree ${parent}\n${signature}\nhello`, /Git does not write so/],
  'a parent after the author': [`${head}parent ${sha}\n${signature}\nhello`, /Git does not write so/],
  'a second author': [`${head}author ${person}\n${signature}\nhello`, /Git does not write so/],
  'no committer': [`tree ${sha}\nauthor ${person}\n${signature}\nhello`, /Git does not write so/],
  'a tree in capitals': [head.replace(sha, sha.toUpperCase()), /Git does not write so/],
  'a tree with a line more': [head.replace(sha, `${sha}\n ${parent}`), /Git does not write so/],
  'no time': [`${head.replaceAll('1793527200', 'now')}${signature}\nhello`, /does not say when/],
  'a header that ends nowhere': [`${head}gpgsig abc`, /in the middle of a header/],
  'a hundred thousand parents': [`tree ${sha}\n${`parent ${parent}\n`.repeat(20_000)}\n`, /more than 128 parents/],
  'a megabyte and more': [`${head}${signature}\n${'x'.repeat(1024 * 1024)}`, /more than 1048576 bytes/],
  'a long signature': [`${head}gpgsig -----BEGIN\n${` ${'A'.repeat(70)}\n`.repeat(1000)}\nhello`, /more than 65536/],
};

for (const [what, [text, why]] of Object.entries(odd)) {
  test(`a commit with ${what} is refused, and counts as no other`, () => {
    assert.throws(() => read(text).signed(), refusal('SignatureInvalid', why));
  });
}

test('a name that looks like a time, or holds an angle bracket, moves no time', () => {
  const named = `Ada > 1 <ada> 99 <x@example.com> 1793527200 +0100`;
  assert.equal(read(`${head.replaceAll(person, named)}${signature}\nhello`).signed().at, 1793527200);
});

const tag = `object ${sha}\ntype commit\ntag v1\ntagger ${person}\n\nversion 1\n`;
const tagSignature = '-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----\n';

test('of a tag all is signed that stands above its signature', () => {
  const read = readTagObject(Buffer.from(`${tag}${tagSignature}`));
  assert.deepEqual([read.of, read.name], [sha, 'v1']);
  assert.equal(read.signed().payload.toString(), tag);
  assert.equal(read.signed().signature, tagSignature);
});

test('of a tag whose message quotes a signature the last one counts, as for git', () => {
  const read = readTagObject(Buffer.from(`${tag}${tagSignature}more\n${tagSignature}`));
  assert.equal(read.signed().payload.toString(), `${tag}${tagSignature}more\n`);
});

test('a tag without a signature, of no commit, or with other headers is refused', () => {
  assert.throws(() => readTagObject(Buffer.from(tag)).signed(), refusal('CommitNotSigned', /is not signed/));
  const ofTree = tag.replace('type commit', 'type tree');
  assert.throws(() => readTagObject(Buffer.from(ofTree)), refusal('SignatureInvalid', /names no commit/));
  const more = `${tag.replace('\n\n', '\ngpgsig-sha256 x\n\n')}${tagSignature}`;
  assert.throws(() => readTagObject(Buffer.from(more)).signed(), refusal('SignatureInvalid', /Git does not write/));
});
