import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReader } from '../../../functions/read/reader.ts';
import { GitError } from '../../../gitops/git/error.ts';
import { fetchTree } from '../../../gitops/git/fetch.ts';
import { connect } from '../../../gitops/git/http.ts';
import type { Verification } from '../../../gitops/signatures/verification.ts';
import { verifyTree } from '../../../gitops/signatures/verify.ts';
import { openPgpKey } from '../../support/git/openpgp-signing.ts';
import { startGitServer } from '../../support/git/server.ts';
import { pushChain } from '../../support/git/signed-chain.ts';
import { sshSigner } from '../../support/git/ssh-signing.ts';
import { type Capability, can } from '../../support/git/traits.ts';
import { localNetwork } from '../../support/network.ts';
import { specText } from '../../unit/gitops/specs.ts';
import { fleet } from '../../unit/serve/installation.ts';
import { inTime, source } from './scene.ts';

const ada = sshSigner();
const byAda = () => (payload: Buffer) => ada.sign(payload);
const now = Date.now() / 1000;
const keys = { allowed_signers: ada.line('ada') };

async function stage(filter: 'true' | 'false', ...needs: readonly Capability[]) {
  const server = await startGitServer({ needs });
  const repository = await server.createRepository('etcd');
  await repository.git('config', 'uploadpack.allowFilter', filter);
  await repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  const first = await repository.commit({ 'a.yaml': specText('a') });
  const verify = async (sha: string, since: string, more: Partial<Verification> = {}) => {
    const before = server.requests.length;
    using git = connect(source(repository.url), {}, localNetwork);
    const tree = await fetchTree(git, { ref: 'main', sha }, inTime());
    const verification = { mode: 'HeadAndMerges', configMap: 'signers', keys, since, ...more } as const;
    const verified = await verifyTree({ git, tree, verification, signal: inTime(60_000), now });
    return { ...verified, requests: server.requests.length - before };
  };
  return { server, repository, first, verify, [Symbol.asyncDispose]: () => server.stop() };
}

for (const [what, filter, most] of [
  ['that can leave files out', 'true', 1000],
  ['that can not', 'false', 1000],
] as const) {
  test(`of a server ${what}, each of ${most} commits since the verified one is looked at`, async () => {
    await using at = await stage(filter);
    const chain = await pushChain(at.repository, { from: at.first, count: most, sign: byAda });
    const { objects, by, requests } = await at.verify(chain.at(-1) ?? '', at.first);
    assert.deepEqual([objects, by], [most, 'ada']);
    // The first is for version 2 of the protocol, which not every server speaks.
    assert.ok(requests <= (can(at.server.traits, 'asFewRequests') ? 4 : 6), `${requests} requests`);
  });

  test(`of a server ${what}, one commit in the middle without a signature is found`, async () => {
    await using at = await stage(filter);
    const sign = (index: number) => (index === 17 ? undefined : byAda());
    const chain = await pushChain(at.repository, { from: at.first, count: 100, sign });
    await assert.rejects(at.verify(chain.at(-1) ?? '', at.first), {
      reason: 'CommitNotSigned',
      message: new RegExp(`^commit ${chain[17]?.slice(0, 12)}, which came to main after`),
    });
  });
}

test('a server that can leave out files and not folders is asked for both', async () => {
  await using at = await stage('true');
  await at.repository.git('config', 'uploadpackfilter.tree.allow', 'false');
  const chain = await pushChain(at.repository, { from: at.first, count: 3, sign: byAda });
  assert.equal((await at.verify(chain.at(-1) ?? '', at.first)).objects, 3);
});

test('and so is one that answers a filter for folders with an error page', async () => {
  await using at = await stage('true');
  const chain = await pushChain(at.repository, { from: at.first, count: 3, sign: byAda });
  using git = connect(source(at.repository.url), {}, localNetwork);
  const { send } = git;
  git.send = async (request, signal) => {
    if (request.body?.includes('filter tree:0')) throw new GitError('ServerFailing', 'the server answered 500');
    await send(request, signal);
  };
  const tree = await fetchTree(git, { ref: 'main', sha: chain.at(-1) ?? '' }, inTime());
  const verification = { mode: 'HeadAndMerges', configMap: 'signers', keys, since: at.first } as const;
  assert.equal((await verifyTree({ git, tree, verification, signal: inTime(), now })).objects, 3);
});

test('more than 1000 commits are refused with what to do, before any but the head is looked at', async () => {
  await using at = await stage('true', 'filter');
  const sign = (index: number) => (index === 1000 ? byAda() : undefined);
  const chain = await pushChain(at.repository, { from: at.first, count: 1001, sign });
  await assert.rejects(at.verify(chain.at(-1) ?? '', at.first), {
    reason: 'HistoryNotVerified',
    message: /^main got more than 1000 commits since [0-9a-f]{12} was verified.*set spec\.git\.verify\.mode to Head/,
  });
});

test('the word of a server about a history proves nothing: fetched commits must lead there', async () => {
  await using at = await stage('true');
  const other = await at.repository.commit({ 'b.yaml': specText('b') }, { branch: 'other', orphan: true });
  const [head = ''] = await pushChain(at.repository, { from: at.first, count: 1, sign: byAda });
  await assert.rejects(at.verify(head, other), { reason: 'HistoryNotVerified', message: /does not contain/ });
  await assert.rejects(at.verify(head, 'f'.repeat(40)), { reason: 'HistoryNotVerified', message: /does not contain/ });
});

test('hundreds of OpenPGP signatures are looked at in the reader, and it is not taken for stuck', async () => {
  await using at = await stage('true');
  const bob = await openPgpKey({ type: 'rsa', rsaBits: 2048 });
  const chain = await pushChain(at.repository, { from: at.first, count: 300, sign: () => bob.sign });
  using reader = createReader();
  const verification: Verification = {
    mode: 'HeadAndMerges',
    configMap: 'signers',
    keys: { ...keys, 'bob.asc': bob.publicKey },
    since: at.first,
  };
  const revision = { ref: 'main', sha: chain.at(-1) ?? '' };
  const task = { source: source(at.repository.url), revision, fleet: fleet('production'), verification };
  const { verified } = await reader.read(task, inTime(60_000));
  assert.equal(verified?.objects, 300);
});

test('no document is read of a commit that is refused: not even its files are asked for', async () => {
  await using at = await stage('true', 'asFewRequests');
  const sha = await at.repository.commit({ 'a.yaml': specText('a'), 'b.yaml': specText('b') });
  using reader = createReader();
  const verification: Verification = { mode: 'Head', configMap: 'signers', keys };
  const task = { source: source(at.repository.url), revision: { ref: 'main', sha }, fleet: fleet('production') };
  // What the server advertises is asked for once.
  const fetches = () => at.server.requests.filter(({ method }) => method === 'POST').length;
  const before = fetches();
  await assert.rejects(reader.read({ ...task, verification }, inTime()), { reason: 'CommitNotSigned' });
  const refused = fetches() - before;
  await reader.read(task, inTime());
  assert.equal(fetches() - before - refused, refused + 1);
});

test('a commit of many megabytes is refused by its size, and the reader goes on', async () => {
  await using at = await stage('true');
  const sha = await at.repository.commit({ 'a.yaml': specText('a') }, { message: 'x'.repeat(12 * 1024 * 1024) });
  using reader = createReader();
  const verification: Verification = { mode: 'Head', configMap: 'signers', keys };
  const task = { source: source(at.repository.url), revision: { ref: 'main', sha }, fleet: fleet('production') };
  await assert.rejects(reader.read({ ...task, verification }, inTime()), {
    reason: 'SignatureInvalid',
    message: /has more than 1048576 bytes/,
  });
  assert.equal((await reader.read({ ...task, revision: { ref: 'main', sha: at.first } }, inTime())).specs.length, 1);
});
