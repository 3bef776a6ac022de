import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { fetchTree } from '../../../gitops/git/fetch.ts';
import { connect } from '../../../gitops/git/http.ts';
import { resolveRef } from '../../../gitops/git/resolve.ts';
import { startGitServer } from '../../support/git/server.ts';
import { localNetwork } from '../../support/network.ts';
import { fetched, inTime, rootOf, source } from './scene.ts';

test('one more request fetches the files of the commit, without its history', async () => {
  await using server = await startGitServer({ needs: ['asFewRequests'] });
  const repository = await server.createRepository('r');
  await repository.commit({ 'old.bin': Buffer.alloc(100_000, 'history') });
  await repository.commit({ 'a.yaml': 'a: 1\n', 'folder/b.yaml': 'b: 2\n' });
  const found = await fetched(source(repository.url));
  assert.deepEqual(await rootOf(found), ['a.yaml', 'folder']);
  const [a] = await found.tree.folder(found.tree.root);
  assert.equal(Buffer.from(await found.tree.file(a?.oid ?? '')).toString(), 'a: 1\n');
  assert.equal(found.requests, 2);
});

test('files that git stored as deltas of one another are read whole', async () => {
  await using server = await startGitServer({ needs: ['wholeCommits'] });
  const repository = await server.createRepository('r');
  const text = Array.from({ length: 2000 }, (_, line) => `line ${line}: ${'x'.repeat(line % 50)}\n`);
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, file) => [`f${file}.txt`, text.with(file * 50, `changed in ${file}\n`).join('')]),
  );
  await repository.commit(files);
  await repository.git('repack', '-adfq', '--depth=10', '--window=30');
  const { tree } = await fetched(source(repository.url));
  for (const { name, oid } of await tree.folder(tree.root)) {
    assert.equal(Buffer.from(await tree.file(oid)).toString(), files[name]);
  }
});

for (const [name, move] of [
  ['advanced', { orphan: false }],
  ['force-pushed', { orphan: true }],
] as const) {
  test(`the resolved commit is fetched, also when its branch was ${name} meanwhile`, async () => {
    await using server = await startGitServer({ needs: ['commitsWithoutRefs'] });
    const repository = await server.createRepository('r');
    const sha = await repository.commit({ 'old.yaml': '1' });
    using git = connect(source(repository.url), {}, localNetwork);
    const revision = await resolveRef(git, inTime());
    await repository.commit({ 'new.yaml': '2' }, move);
    const tree = await fetchTree(git, revision, inTime());
    assert.equal(tree.revision.sha, sha);
    assert.deepEqual(await rootOf({ tree }), ['old.yaml']);
  });
}

test('a commit that vanished between resolving and fetching is RefMoved, to be tried again', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({ a: '1' });
  using git = connect(source(repository.url), {}, localNetwork);
  const revision = await resolveRef(git, inTime());
  await repository.commit({ a: '2' }, { orphan: true });
  await repository.git('reflog', 'expire', '--expire=now', '--all');
  await repository.git('repack', '-adq');
  await repository.git('prune', '--expire=now');
  await assert.rejects(fetchTree(git, revision, inTime()), { reason: 'RefMoved', class: 'retryable' });
});

test('a pinned commit is fetched though no ref names it', async () => {
  await using server = await startGitServer({ needs: ['commitsWithoutRefs'] });
  const repository = await server.createRepository('r');
  const pinned = await repository.commit({ 'pinned.yaml': '1' });
  await repository.commit({ 'b.yaml': '2' });
  assert.deepEqual(await rootOf(await fetched(source(repository.url, { ref: pinned }))), ['pinned.yaml']);
  await repository.commit({ 'c.yaml': '3' }, { orphan: true });
  assert.deepEqual(await rootOf(await fetched(source(repository.url, { ref: pinned }))), ['pinned.yaml']);
});

test('a pinned commit that does not exist is CommitNotFound', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({ a: '1' });
  await assert.rejects(fetched(source(repository.url, { ref: 'ab'.repeat(20) })), {
    reason: 'CommitNotFound',
    class: 'terminal',
  });
});

test('a tag of something that is not a commit says so', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({ a: '1' });
  await repository.git('tag', 'tree', 'HEAD^{tree}');
  await assert.rejects(fetched(source(repository.url, { ref: 'tree' })), {
    reason: 'CommitNotFound',
    message: /names a tree, not a commit/,
  });
});

test('a commit without files is a tree without entries', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({});
  assert.deepEqual(await rootOf(await fetched(source(repository.url))), []);
});

test('resolving alone does not load isomorphic-git: a no-op check should not pay for it', async () => {
  const script = `import { connect } from './gitops/git/http.ts';
    import { resolveRef } from './gitops/git/resolve.ts';
    import './gitops/git/fetch.ts'; import './gitops/specs/documents.ts'; import './gitops/specs/specs.ts';
    import { createRequire } from 'node:module';
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => /isomorphic-git|.yaml.dist/.test(file));
    console.log(JSON.stringify(loaded));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    timeout: 20_000,
  });
  assert.deepEqual(JSON.parse(stdout), []);
});
