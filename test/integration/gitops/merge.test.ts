import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeResult } from '../../../functions/read/merge-result.ts';
import { connect } from '../../../gitops/git/http.ts';
import type { Tree } from '../../../gitops/git/tree.ts';
import { fetchMerge, type MergeSource } from '../../../gitops/merge/fetch-merge.ts';
import { mergeTrees } from '../../../gitops/merge/merge-trees.ts';
import { GitFailure, git } from '../../support/git/git.ts';
import type { Repository } from '../../support/git/repository.ts';
import { type GitServer, startGitServer } from '../../support/git/server.ts';
import { localNetwork } from '../../support/network.ts';
import { inTime, source } from './scene.ts';

type Remote = Repository & { readonly url: string };

async function fetched({ url }: Remote, head: string, target: string): Promise<MergeSource & { requests: number }> {
  using git = connect(source(url), {}, localNetwork);
  const found = await fetchMerge(git, { head, target }, inTime());
  const requests = git.requests();
  // As long as there is a connection.
  for (const root of [found.base, found.head, found.target]) await needAll(found.objects, root);
  return { ...found, requests };
}

async function needAll({ folder, need }: Pick<Tree, 'folder' | 'need'>, oid: string): Promise<void> {
  const entries = await folder(oid);
  await need(entries.flatMap((entry) => (entry.kind === 'file' ? [entry.oid] : [])));
  for (const entry of entries) if (entry.kind === 'folder') await needAll({ folder, need }, entry.oid);
}

async function history(
  server: GitServer,
  name: string,
  commits: number,
): Promise<{ repository: Remote; head: string; target: string }> {
  const repository = await server.createRepository(name);
  await repository.commit({ a: '0\n', b: 'base\n' });
  await repository.git('branch', 'asked', 'main');
  const head = await repository.commit({ b: 'asked\n' }, { branch: 'asked', keep: true });
  for (let n = 1; n <= commits; n++) await repository.commit({ a: `${n}\n` }, { keep: true });
  return { repository, head, target: await repository.git('rev-parse', 'main') };
}

/** The first request asks what the server can do. */
for (const [what, commits, filter, requests] of [
  ['nearby', 3, 'true', 2],
  ['nearby, on a server that can not leave files out', 3, 'false', 2],
  ['further away, on a server that can leave files out', 40, 'true', 4],
  ['further away, on one that can not', 40, 'false', 6],
] as const) {
  test(`where two branches parted is found: ${what}`, async () => {
    await using server = await startGitServer({ needs: ['asFewRequests'] });
    const { repository, head, target } = await history(server, 'r', commits);
    await repository.git('config', 'uploadpack.allowFilter', filter);
    const found = await fetched(repository, head, target);
    assert.equal(found.baseSha, await repository.git('merge-base', 'main', 'asked'));
    assert.ok(found.requests <= requests, `${found.requests} requests`);
    const { tree } = await merged(found);
    assert.deepEqual(await filesOf(tree), { a: `${commits}\n`, b: 'asked\n' });
  });
}

test('a head without a ref is fetched all the same, and a missing one is named', async () => {
  await using server = await startGitServer({ needs: ['commitsWithoutRefs'] });
  const { repository, head, target } = await history(server, 'r', 1);
  await repository.git('branch', '-D', 'asked');
  assert.equal((await fetched(repository, head, target)).baseSha, await repository.git('rev-parse', 'main~1'));
  await assert.rejects(fetched(repository, 'e'.repeat(40), target), { reason: 'CommitNotFound' });
});

test('histories without a common commit are told so', async () => {
  await using server = await startGitServer();
  const { repository, target } = await history(server, 'r', 1);
  const head = await repository.commit({ x: '1' }, { branch: 'orphan', orphan: true });
  await assert.rejects(fetched(repository, head, target), { reason: 'NoCommonAncestor', class: 'terminal' });
});

test('where an old branch was merged lately, what the request deletes is deleted', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  const old = await repository.commit({ a: '0\n' });
  const target = await repository.commit({ doomed: 'here\n' }, { keep: true });
  await repository.git('branch', 'asked', 'main');
  for (let n = 1; n <= 30; n++) await repository.commit({ a: `${n}\n` }, { branch: 'asked', keep: true });
  const last = await repository.commit({ doomed: undefined }, { branch: 'asked', keep: true });
  const head = await merge(repository, 'asked', last, old);
  const found = await fetched(repository, head, target);
  assert.equal(found.baseSha, await repository.git('merge-base', target, head));
  const { tree } = await merged(found);
  assert.deepEqual(await filesOf(tree), { a: '30\n' });
});

test('histories that were merged crosswise: the result where it is certain, and else none', async () => {
  await using server = await startGitServer({ needs: ['wholeCommits'] });
  const repository = await server.createRepository('r');
  await repository.commit({ a: '0\n' });
  await repository.git('branch', 'asked', 'main');
  const x = await repository.commit({ doomed: 'here\n' }, { keep: true });
  const y = await repository.commit({ b: '1\n' }, { branch: 'asked', keep: true });
  const tree = await repository.git('merge-tree', '--write-tree', x, y);
  const target = await merge(repository, 'main', x, y, tree);
  await merge(repository, 'asked', y, x, tree);
  const harmless = await repository.commit({ c: '1\n' }, { branch: 'asked', keep: true });
  const head = await repository.commit({ doomed: undefined }, { branch: 'asked', keep: true });

  using git = connect(source(repository.url), {}, localNetwork);
  const result = (sha: string) => mergeResult(git, { head: sha, target, targetBranch: 'main' }, inTime());
  const all = { a: '0\n', b: '1\n', c: '1\n', doomed: 'here\n' };
  assert.deepEqual(await filesOf((await result(harmless)).tree), all);
  // By the newest base alone nobody deletes it; by the other one, and by Git, it is deleted.
  const byGit = await repository.git('merge-tree', '--write-tree', target, head);
  assert.doesNotMatch(await repository.git('ls-tree', '-r', '--name-only', byGit), /doomed/);
  await assert.rejects(result(head), { reason: 'NoCommonAncestor', message: /merged crosswise/ });
});

/** As whoever merges would have it; `tree`: unless what the first one holds stays. */
async function merge({ git }: Remote, branch: string, one: string, other: string, tree = `${one}^{tree}`) {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const sha = await git(...who, 'commit-tree', '-m', 'Merge', '-p', one, '-p', other, tree);
  await git('update-ref', `refs/heads/${branch}`, sha);
  return sha;
}

const names = ['a', 'b', 'x/a', 'x/y/b'] as const;
/** Each begins with what no other file has, or Git would take one for another's new name, which we don't. */
const base = Object.fromEntries(
  names.map((name) => [
    name,
    Array.from({ length: 24 }, (_, n) => (n < 12 ? hashed(`${name} ${n}`) : `line ${n % 5}`)),
  ]),
);
/** `undefined`: there are conflicts. */
async function mergeTree(repository: Remote, target: string, head: string): Promise<string | undefined> {
  try {
    return await repository.git('merge-tree', '--write-tree', target, head);
  } catch (error) {
    if (error instanceof GitFailure && error.code === 1) return undefined;
    throw error;
  }
}

type Files = Readonly<Record<string, string>>;

/** A file that one side alone has touched is as that side has it, or gone. @throws when Git finds a conflict. */
async function mergedByFile(directory: string, ours: Files, base: Files, theirs: Files): Promise<Files> {
  const found: Record<string, string> = {};
  for (const name of new Set([ours, base, theirs].flatMap(Object.keys))) {
    const [one, before, other] = [ours[name], base[name], theirs[name]];
    const text = one === before ? other : other === before || one === other ? one : undefined;
    if (text !== undefined) found[name] = text;
    else if (one !== undefined && before !== undefined && other !== undefined)
      found[name] = await mergeFile(directory, one, before, other);
  }
  return found;
}

async function mergeFile(directory: string, ours: string, base: string, theirs: string): Promise<string> {
  const paths = { ours: join(directory, 'ours'), base: join(directory, 'base'), theirs: join(directory, 'theirs') };
  await writeFile(paths.ours, ours);
  await writeFile(paths.base, base);
  await writeFile(paths.theirs, theirs);
  await git(directory, ['merge-file', paths.ours, paths.base, paths.theirs]);
  return await readFile(paths.ours, 'utf8');
}

type Edit = {
  readonly name: string;
  readonly at: number;
  readonly kind: 'change' | 'insert' | 'delete' | 'remove file' | 'new file';
};
const edits = fc.array(
  fc.record<Edit>({
    name: fc.constantFrom(...names),
    at: fc.nat(23),
    kind: fc.constantFrom('change', 'change', 'insert', 'insert', 'delete', 'delete', 'remove file', 'new file'),
  }),
  { maxLength: 4 },
);

function hashed(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

/** `who`: what is written, so that two sides may come to the same or not. */
function edited(list: readonly Edit[], who: string): Record<string, string> {
  const files = new Map(Object.entries(base).map(([name, lines]) => [name, [...lines]]));
  for (const { name, at, kind } of list) {
    const lines = files.get(name);
    if (kind === 'new file') files.set(`new/${at % 3}`, [hashed(`new ${at % 3}`), at % 2 === 0 ? who : 'both']);
    else if (kind === 'remove file') files.delete(name);
    else if (kind === 'insert') lines?.splice(at, 0, at % 2 === 0 ? who : 'both');
    else lines?.splice(at, 1, ...(kind === 'change' ? [at % 2 === 0 ? who : 'both'] : []));
  }
  return Object.fromEntries([...files].map(([name, lines]) => [name, lines.map((line) => `${line}\n`).join('')]));
}

test('what Git takes for one change between repeated lines is merged as git merge-file does', async () => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await repository.commit(edited([], ''));
  await repository.git('branch', 'asked', 'main');
  const at = (line: number): Edit => ({ name: 'x/a', at: line, kind: 'change' });
  const head = await repository.commit(edited([at(11), at(16)], 'ours'), { branch: 'asked' });
  const target = await repository.commit(edited([at(13)], 'theirs'));
  const { tree, conflicts } = await merged(await fetched(repository, head, target));
  assert.deepEqual(conflicts, []);
  assert.deepEqual(await filesOf(tree), edited([at(11), at(13), at(16)], 'ours'));
  assert.equal(await mergeTree(repository, target, head), undefined, 'Git finds a conflict');
});

/** Repeated lines between two changes of one side, and a file that the other side removes. */
const apartBesideARemoval: [Edit[], Edit[]][] = [
  [
    [{ name: 'x/a', at: 13, kind: 'change' }],
    [
      { name: 'x/a', at: 16, kind: 'change' },
      { name: 'x/a', at: 11, kind: 'change' },
      { name: 'a', at: 0, kind: 'remove file' },
    ],
  ],
];

test('what Git merges cleanly comes out the same here, and its conflicts are conflicts here', async (t) => {
  await using server = await startGitServer();
  const repository = await server.createRepository('r');
  await using directory = await mkdtempDisposable(join(tmpdir(), 'merge-'));
  let [clean, refused, stricter] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(edits, edits, async (ours, theirs) => {
      await repository.commit(edited([], ''), { orphan: true });
      await repository.git('branch', '-f', 'asked', 'main');
      const head = await repository.commit(edited(ours, 'ours'), { branch: 'asked' });
      const target = await repository.commit(edited(theirs, 'theirs'));
      const { tree, conflicts } = await merged(await fetched(repository, head, target));
      const byGit = await mergeTree(repository, target, head);
      if (byGit === undefined) {
        refused++;
        if (conflicts.length > 0) return;
        // Git compares by rare lines: what lies between repeated ones is one change to it. By Myers' comparison, which
        // `git merge-file` and we have, such changes are apart.
        const sides = [edited(theirs, 'theirs'), edited([], ''), edited(ours, 'ours')] as const;
        return assert.deepEqual(await filesOf(tree), await mergedByFile(directory.path, ...sides));
      }
      // We may call a conflict what Git still untangles; never the other way round.
      if (conflicts.length > 0) return void stricter++;
      clean++;
      const listed = await repository.git('ls-tree', '-r', '--name-only', byGit);
      const expected: Record<string, string> = {};
      for (const name of listed.split('\n').filter(Boolean))
        expected[name] = await repository.git('show', `${byGit}:${name}`);
      const found = Object.entries(await filesOf(tree)).map(([name, text]) => [name, text.trim()]);
      assert.deepEqual(Object.fromEntries(found), expected);
    }),
    { numRuns: 40, examples: apartBesideARemoval },
  );
  t.diagnostic(`${clean} merged alike, ${refused} refused alike, ${stricter} refused here alone`);
  assert.ok(clean > 5 && stricter <= 5);
});

async function merged(found: MergeSource) {
  const merge = await mergeTrees({ ...found, path: '', revision: { ref: 'main', sha: '' } });
  return { ...merge, conflicts: [...merge.conflicts, ...merge.uncertain] };
}

async function filesOf(tree: Tree, oid = tree.root, prefix = ''): Promise<Readonly<Record<string, string>>> {
  const all: Record<string, string> = {};
  for (const entry of await tree.folder(oid)) {
    const name = `${prefix}${entry.name}`;
    if (entry.kind === 'folder') Object.assign(all, await filesOf(tree, entry.oid, `${name}/`));
    else all[name] = Buffer.from(await tree.file(entry.oid)).toString();
  }
  return all;
}
