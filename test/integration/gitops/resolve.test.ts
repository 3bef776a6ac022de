import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../../gitops/git/http.ts';
import { resolveRef } from '../../../gitops/git/resolve.ts';
import { startGitServer } from '../../support/git/server.ts';
import { localNetwork } from '../../support/network.ts';
import { inTime, resolve, source } from './scene.ts';

test('finding out that nothing has changed costs one request', async () => {
  await using server = await startGitServer({ needs: ['asFewRequests'] });
  const repository = await server.createRepository('r');
  const sha = await repository.commit({ a: 'a' });
  for (let branch = 0; branch < 50; branch++) await repository.git('branch', `b${branch}`, sha);
  using git = connect(source(repository.url), {}, localNetwork);
  assert.deepEqual(await resolveRef(git, inTime()), { ref: 'main', sha, fullRef: 'refs/heads/main' });
  assert.equal(git.requests(), 1);
  assert.equal(server.requests.length, 1);
});

test('a ref is a branch, a tag, an annotated tag, a full name or a commit', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  const first = await repository.commit({ a: '1' });
  const second = await repository.commit({ a: '2' });
  await repository.git('tag', 'light', first);
  await repository.git('tag', '-a', '-m', 'Release', 'heavy', first);
  await repository.git('update-ref', 'refs/pull/7/head', first);
  await repository.git('branch', 'team/prod', first);
  for (const [ref, sha] of [
    ['main', second],
    ['HEAD', second],
    ['team/prod', first],
    ['light', first],
    ['heavy', first],
    ['refs/tags/heavy', first],
    ['refs/pull/7/head', first],
    [first, first],
  ] as const) {
    assert.equal((await resolve(source(repository.url, { ref }))).sha, sha, ref);
  }
});

test('a pinned commit needs no request at all', async () => {
  using git = connect(source('https://unreachable.invalid/r.git', { ref: 'A'.repeat(40) }), {}, localNetwork);
  assert.equal((await resolveRef(git, inTime())).sha, 'a'.repeat(40));
  assert.equal(git.requests(), 0);
});

test('a ref that is also a tag is the branch, and it is said', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  const tagged = await repository.commit({ a: '1' });
  const head = await repository.commit({ a: '2' });
  await repository.git('tag', 'main', tagged);
  const { sha, note } = await resolve(source(repository.url));
  assert.equal(sha, head);
  assert.match(note ?? '', /both refs\/heads\/main and refs\/tags\/main/);
  assert.equal((await resolve(source(repository.url, { ref: 'refs/tags/main' }))).sha, tagged);
});

test('a force-pushed ref is simply where it points now', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({ a: '1' });
  const rewritten = await repository.commit({ a: '2' }, { orphan: true });
  assert.equal((await resolve(source(repository.url))).sha, rewritten);
});

test('a deleted ref is RefNotFound, with what there is', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({ a: '1' });
  await repository.git('branch', '-m', 'main', 'trunk');
  await assert.rejects(resolve(source(repository.url)), {
    reason: 'RefNotFound',
    class: 'terminal',
    message: `${repository.url} has no branch or tag main; its branches are trunk`,
  });
});

test('an empty repository says so', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await assert.rejects(resolve(source(repository.url)), { reason: 'EmptyRepository', class: 'terminal' });
});

test('a repository that is not there is RepositoryNotFound', async () => {
  await using server = await startGitServer();
  await assert.rejects(resolve(source(`${server.url}/nothing.git`)), {
    reason: 'RepositoryNotFound',
    class: 'terminal',
  });
});

test('a slash at the end of the URL does no harm', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  const sha = await repository.commit({ a: '1' });
  assert.equal((await resolve(source(`${repository.url}/`))).sha, sha);
});
