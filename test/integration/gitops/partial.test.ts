import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createByteBudget } from '../../../gitops/git/budget.ts';
import { fetchTree } from '../../../gitops/git/fetch.ts';
import { connect } from '../../../gitops/git/http.ts';
import { resolveRef } from '../../../gitops/git/resolve.ts';
import { readDocuments } from '../../../gitops/specs/documents.ts';
import { startGitServer } from '../../support/git/server.ts';
import { localNetwork } from '../../support/network.ts';
import { specText } from '../../unit/gitops/specs.ts';
import { inTime, resolve, source } from './scene.ts';

const noise = randomBytes(3_000_000);
const files = {
  'clusters/a.yaml': specText('a'),
  'clusters/b.yaml': specText('b'),
  'clusters/link.yaml': { symlink: 'a.yaml' },
  'clusters/away.yaml': { symlink: '../README.md' },
  'clusters/README.md': 'not read',
  'media/large.bin': noise,
};

async function read(url: string, path: string, mostBytes?: number) {
  using git = connect(source(url, { path }), {}, localNetwork, createByteBudget(mostBytes));
  const revision = await resolveRef(git, inTime());
  const tree = await fetchTree(git, revision, inTime());
  const { documents, notes, readWhole } = await readDocuments(tree, path, {}, inTime());
  const names = documents.map(({ object }) => (object.metadata as { name: string }).name);
  return { names, notes, readWhole, requests: git.requests() };
}

for (const [what, filter, requests] of [
  ['that can leave files out', 'true', 5],
  ['that can not', 'false', 2],
] as const) {
  test(`the specs under the path are read from a server ${what}`, async () => {
    await using server = await startGitServer({ needs: ['asFewRequests'] });
    const repository = await server.createRepository('r');
    await repository.git('config', 'uploadpack.allowFilter', filter);
    await repository.commit(files);
    const found = await read(repository.url, 'clusters');
    assert.deepEqual(found.names, ['a', 'b']);
    assert.match(found.notes.join(), /clusters\/away.yaml is a symbolic link that leads out/);
    assert.ok(found.requests <= requests, `${found.requests} requests`);
  });
}

test('files outside of the path never arrive, however large they are', async () => {
  await using server = await startGitServer({ needs: ['filter'] });
  const repository = await server.createRepository('r');
  await repository.git('config', 'uploadpack.allowFilter', 'true');
  await repository.commit(files);
  assert.deepEqual((await read(repository.url, 'clusters', 100_000)).names, ['a', 'b']);
  await repository.git('config', 'uploadpack.allowFilter', 'false');
  await assert.rejects(read(repository.url, 'clusters', 100_000), {
    reason: 'TooLarge',
    class: 'terminal',
    message: /on a server that can leave files out/,
  });
});

test('a list of more refs than are read is asked for by name', async () => {
  await using server = await startGitServer({ needs: ['asFewRequests'] });
  const repository = await server.createRepository('r');
  const sha = await repository.commit({ a: '1' });
  await repository.git('tag', '-a', '-m', 'Release', 'v1', sha);
  for (let n = 0; n < 50; n++) await repository.git('update-ref', `refs/pull/${n}/${'x'.repeat(100)}`, sha);
  for (const [ref, fullRef] of [
    ['main', 'refs/heads/main'],
    ['v1', 'refs/tags/v1'],
  ] as const) {
    using git = connect(source(repository.url, { ref }), { maxBytes: 4_000 }, localNetwork);
    assert.partialDeepStrictEqual(await resolveRef(git, inTime()), { sha, fullRef });
    assert.equal(git.requests(), 2);
  }
  await assert.rejects(resolve(source(repository.url, { ref: 'gone' }), { maxBytes: 4_000 }), {
    reason: 'TooLarge',
  });
});
