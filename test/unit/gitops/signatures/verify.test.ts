import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { connect } from '../../../../gitops/git/http.ts';
import { lineSince } from '../../../../gitops/signatures/line.ts';
import type { Verification } from '../../../../gitops/signatures/verification.ts';
import { verifyTree } from '../../../../gitops/signatures/verify.ts';
import { withSignature } from '../../../support/git/signed-objects.ts';
import { sshSigner } from '../../../support/git/ssh-signing.ts';
import { localNetwork } from '../../../support/network.ts';

const ada = sshSigner();
const tree = 'a'.repeat(40);
const person = 'Ada <ada@example.com> 1793527200 +0000';
const signal = AbortSignal.timeout(60_000);
const keys = { allowed_signers: ada.line('ada') };
const head: Verification = { mode: 'Head', configMap: 'signers', keys };

function commitOn(...parents: readonly string[]): Buffer {
  const lines = [`tree ${tree}`, ...parents.map((sha) => `parent ${sha}`), `author ${person}`, `committer ${person}`];
  return Buffer.from(`${lines.join('\n')}\n\nChange ${parents.length}\n`);
}

function nameOf(bytes: Buffer): string {
  return createHash('sha1').update(`commit ${bytes.length}\0`).update(bytes).digest('hex');
}

const signed = await withSignature(commitOn(), (payload) => ada.sign(payload));

/** No server is asked for a head. */
function verify(bytes: Buffer, { sha = nameOf(bytes), root = tree, type = 'commit' } = {}) {
  using git = connect({ url: 'http://127.0.0.1:9/r.git', ref: 'main', path: '.' }, {}, localNetwork);
  const raw = async () => ({ type, bytes });
  return verifyTree({
    git,
    tree: { raw, root, revision: { ref: 'main', sha } },
    verification: head,
    signal,
    now: 1793527200,
  });
}

test('a head is verified by its own bytes, and the tree that is read must be its own', async () => {
  assert.deepEqual(await verify(signed), { mode: 'Head', objects: 1, by: 'ada', key: (await verify(signed)).key });
  await assert.rejects(verify(signed, { root: 'b'.repeat(40) }), {
    reason: 'SignatureInvalid',
    message: /names another tree than the one that was read/,
  });
});

test('bytes that do not have the name that was asked for count for nothing', async () => {
  await assert.rejects(verify(signed, { sha: 'c'.repeat(40) }), { reason: 'BadAnswer' });
  await assert.rejects(verify(signed, { type: 'blob' }), { reason: 'BadAnswer' });
});

/** Commits by letter, with their parents. */
function history(parents: Readonly<Record<string, readonly string[]>>, most = 1000) {
  const names = new Map<string, string>();
  const objects = new Map<string, Buffer>();
  for (const [letter, of] of Object.entries(parents)) {
    const unique = Buffer.from(letter);
    const bytes = Buffer.concat([commitOn(...of.map((one) => names.get(one) ?? one.repeat(40))), unique]);
    names.set(letter, nameOf(bytes));
    objects.set(nameOf(bytes), bytes);
  }
  const raw = async (sha: string) => {
    const bytes = objects.get(sha);
    return bytes && { type: 'commit', bytes };
  };
  const letters = new Map([...names].map(([letter, sha]) => [sha, letter]));
  return async (from: string, since: string) => {
    const line = await lineSince({ raw, most }, names.get(from) ?? '', names.get(since) ?? since.repeat(40), signal);
    return line.kind === 'line' ? line.line.map((sha) => letters.get(sha)).join('') : line.kind;
  };
}

test('the line has each first parent since the verified commit, and nothing from the side', async () => {
  const line = history({ a: [], b: ['a'], x: ['a'], y: ['x'], c: ['b', 'y'], d: ['c'] });
  assert.equal(await line('d', 'a'), 'dcb');
  assert.equal(await line('d', 'c'), 'd');
  assert.equal(await line('d', 'd'), '');
});

test('a line goes back to where it parted from the verified commit, if that was merged', async () => {
  const line = history({ a: [], b: ['a'], v: ['b'], m: ['b'], n: ['m', 'v'], o: ['n'] });
  assert.equal(await line('o', 'v'), 'onm');
});

test('a head that the verified commit contains, or that has nothing of it, has no line', async () => {
  const line = history({ a: [], b: ['a'], c: ['b'], z: [], y: ['z'] });
  assert.equal(await line('a', 'c'), 'apart');
  assert.equal(await line('y', 'b'), 'apart');
  assert.equal(await line('c', 'f'), 'apart');
});

test('a line that ends nowhere is none, though the verified commit is contained', async () => {
  const line = history({ v: [], m: ['e'], n: ['m', 'v'] });
  assert.equal(await line('n', 'v'), 'apart');
});

test('more commits than are looked at are too many, also on a way round', async () => {
  const chain = { a: [], b: ['a'], c: ['b'], d: ['c'], e: ['d'] };
  assert.equal(await history(chain, 4)('e', 'a'), 'edcb');
  assert.equal(await history(chain, 3)('e', 'a'), 'too-long');
  const round = { a: [], v: ['a'], b: ['a'], c: ['b'], d: ['c'], e: ['d', 'v'] };
  assert.equal(await history(round, 4)('e', 'v'), 'edcb');
  assert.equal(await history(round, 3)('e', 'v'), 'too-long');
});
