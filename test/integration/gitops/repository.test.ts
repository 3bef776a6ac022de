import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDocuments } from '../../../gitops/specs/documents.ts';
import { formatProblem } from '../../../gitops/specs/problem.ts';
import { startGitServer } from '../../support/git/server.ts';
import { specText } from '../../unit/gitops/specs.ts';
import { fetched, inTime, source, specsOf } from './scene.ts';

test('specs are found below the path, whatever else the repository holds', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({
    'clusters/prod/orders.yaml': specText('orders'),
    'clusters/prod/deep/er/stock.yml': specText('stock'),
    'clusters/prod/README.md': specText('readme'),
    'clusters/prod/chart/values.yaml': 'etcd: {{ broken',
    'clusters/prod/logo.png': Buffer.from([0x89, 0x50]),
    'clusters/staging/orders.yaml': specText('orders'),
    'clusters/prod-old/x.yaml': specText('x'),
  });
  const { specs, problems, complete } = await specsOf(source(repository.url, { path: './clusters/prod/' }));
  assert.deepEqual(
    specs.map(({ file, name }) => [file, name]),
    [
      ['clusters/prod/orders.yaml', 'orders'],
      ['clusters/prod/deep/er/stock.yml', 'stock'],
    ],
  );
  assert.deepEqual([problems, complete], [[], true]);
});

test('the path may be one file', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({ 'a.yaml': specText('a'), 'b.yaml': specText('b') });
  assert.deepEqual(
    (await specsOf(source(repository.url, { path: 'a.yaml' }))).specs.map(({ name }) => name),
    ['a'],
  );
});

test('a path that is not there (renamed, perhaps) is an error, not an empty tree', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({ 'new/a.yaml': specText('a'), 'a.yaml': 'x', link: { symlink: 'new' } });
  for (const path of ['old', 'new/b', 'a.yaml/b', 'link', 'link/a.yaml']) {
    await assert.rejects(
      specsOf(source(repository.url, { path })),
      { reason: 'PathNotFound', class: 'terminal' },
      path,
    );
  }
});

test('10,000 files are read', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  const files = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, file) => [
      `d${file % 100}/f${file}.yaml`,
      file === 5000 ? specText('needle') : `kind: ConfigMap\ndata: {n: "${file}"}\n`,
    ]),
  );
  await repository.commit(files);
  // Only so that it can't hang: beside other tests this machine has taken 23 s. What it costs, `bench -- git` says.
  const { specs, complete, files: count } = await specsOf(source(repository.url), inTime(120_000));
  assert.deepEqual([specs.map(({ name }) => name), complete, count], [['needle'], true, 10_000]);
});

test('more files than allowed are refused as a whole', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({ 'a.yaml': '', 'b.yaml': '', 'c.yaml': '', 'd.txt': '' });
  const { tree } = await fetched(source(repository.url));
  await assert.rejects(readDocuments(tree, '', { maxFiles: 2 }, inTime()), { reason: 'TooLarge', class: 'terminal' });
  await assert.doesNotReject(readDocuments(tree, '', { maxFiles: 3 }, inTime()));
});

test('a file of 10 MB is the problem of that file alone, and none at all if it is not ours', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  const padding = `# ${'x'.repeat(98)}\n`.repeat(100_000);
  await repository.commit({
    'big.yaml': specText('big', { extra: padding }),
    'good.yaml': specText('good'),
    'other.yaml': `kind: ConfigMap\n${padding}`,
  });
  const { specs, problems, complete } = await specsOf(source(repository.url));
  assert.deepEqual(
    specs.map(({ name }) => name),
    ['good'],
  );
  assert.match(
    problems.map(formatProblem).join('\n'),
    /^big\.yaml: the file has \d+ bytes, more than the 1048576 that are read: split it$/,
  );
  assert.ok(!complete);
});

for (const [name, files, complete] of [
  ['to a file that is read anyway', { 'c/a.yaml': specText('a'), 'c/b.yaml': { symlink: 'a.yaml' } }, true],
  ['to the folder above', { 'c/a.yaml': specText('a'), 'c/d/up': { symlink: '..' } }, true],
  ['that is no YAML', { 'c/a.yaml': specText('a'), 'c/notes.md': { symlink: '../README.md' } }, true],
  [
    'to a file outside of the path',
    { 'c/a.yaml': specText('a'), 'c/b.yaml': { symlink: '../secret.yaml' }, 'secret.yaml': specText('b') },
    false,
  ],
  ['out of the repository', { 'c/a.yaml': specText('a'), 'c/b.yaml': { symlink: '../../../../etc/passwd' } }, false],
  ['to an absolute path', { 'c/a.yaml': specText('a'), 'c/b.yaml': { symlink: '/etc/passwd' } }, false],
  ['of a folder to outside', { 'c/a.yaml': specText('a'), 'c/more': { symlink: '../other' } }, false],
] as const) {
  test(`a link ${name} is not followed${complete ? '' : ', and nothing may be pruned'}`, async () => {
    await using server = await startGitServer();
    const repository = await server.createRepository('r');
    await repository.commit(files);
    const found = await specsOf(source(repository.url, { path: 'c' }));
    assert.deepEqual(
      found.specs.map((spec) => spec.file),
      ['c/a.yaml'],
    );
    assert.deepEqual(found.problems, []);
    assert.equal(found.complete, complete);
    assert.equal(found.notes.length, complete ? 0 : 1);
  });
}

test('a submodule is not fetched, and nothing may be pruned', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({ 'a.yaml': specText('a'), vendor: { submodule: 'ab'.repeat(20) } });
  const { specs, complete, notes } = await specsOf(source(repository.url));
  assert.deepEqual([specs.length, complete, notes], [1, false, ['vendor is a submodule, which is not fetched']]);
});

test('names of files that are no text do not break the walk', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({ 'ä ö\\"x.yaml': specText('a'), '日本.yaml': specText('b') });
  assert.equal((await specsOf(source(repository.url))).specs.length, 2);
});

test('an empty tree has no specs and no problems, and is complete: pruning must check that', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit({});
  const { specs, problems, complete, files } = await specsOf(source(repository.url));
  assert.deepEqual([specs, problems, complete, files], [[], [], true, 0]);
});
