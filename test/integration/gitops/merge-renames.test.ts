import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { connect } from '../../../gitops/git/http.ts';
import type { Tree } from '../../../gitops/git/tree.ts';
import { fetchMerge } from '../../../gitops/merge/fetch-merge.ts';
import { mergeTrees } from '../../../gitops/merge/merge-trees.ts';
import { startGitServer } from '../../support/git/server.ts';
import { localNetwork } from '../../support/network.ts';
import { inTime, source } from './scene.ts';

/** Files that move are followed as Git follows them. */

type Files = Readonly<Record<string, string>>;

/** Ten lines that no other file has. */
function content(name: string, change?: readonly [line: number, who: string]): string {
  const lines = Array.from({ length: 10 }, (_, n) => `${name} has line ${n} of ${name.repeat(3)}`);
  if (change) lines[change[0]] = `${change[1]} changed ${name}`;
  return `${lines.join('\n')}\n`;
}

const names = ['x/a', 'x/b', 'x/deep/c', 'y/d', 'e'];
const base: Files = Object.fromEntries(names.map((name) => [name, content(name)]));

/** One thing for each file, so that no side moves a file and changes it: that is followed by Git alone. */
const change = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'keep' } as const) },
  fc.record({ kind: fc.constant('change' as const), line: fc.constantFrom(1, 5) }),
  fc.record({ kind: fc.constant('move' as const), to: fc.constantFrom('z/1', 'z/2', 'x/3', 'y/4', 'n') }),
  fc.constant({ kind: 'delete' } as const),
);
const side = fc.record({
  changes: fc.tuple(change, change, change, change, change),
  folder: fc.constantFrom(undefined, undefined, ['x/', 'moved/'], ['y/', 'x/y/']),
  added: fc.constantFrom(undefined, undefined, undefined, 'x/new', 'z/1'),
});
type Side = typeof side extends fc.Arbitrary<infer T> ? T : never;

function filesOf({ changes, folder, added }: Side, who: string): Files {
  const files = new Map<string, string>();
  for (const [n, name] of names.entries()) {
    const one = changes[n] ?? { kind: 'keep' };
    const [from, to] = folder ?? [];
    const isInFolder = from !== undefined && to !== undefined && name.startsWith(from);
    if (isInFolder) files.set(name.replace(from, to), content(name));
    else if (one.kind === 'keep') files.set(name, content(name));
    else if (one.kind === 'change') files.set(name, content(name, [one.line, who]));
    else if (one.kind === 'move' && !files.has(one.to)) files.set(one.to, content(name));
  }
  if (added !== undefined && !files.has(added)) files.set(added, content(`new by ${who}`));
  return Object.fromEntries(files);
}

async function stage() {
  const server = await startGitServer({ needs: ['wholeCommits'] });
  const repository = await server.createRepository('r');
  async function merge(ours: Files, theirs: Files) {
    await repository.commit(base, { orphan: true });
    await repository.git('branch', '-f', 'asked', 'main');
    const head = await repository.commit(ours, { branch: 'asked' });
    const target = await repository.commit(theirs);
    using git = connect(source(repository.url), {}, localNetwork);
    const found = await fetchMerge(git, { head, target }, inTime());
    const { tree, conflicts, uncertain } = await mergeTrees({ ...found, path: '', revision: { ref: 'main', sha: '' } });
    const byGit = await repository.git('merge-tree', '--write-tree', target, head).then(
      async (sha) =>
        Object.fromEntries(
          await Promise.all(
            (await repository.git('ls-tree', '-r', '--name-only', sha))
              .split('\n')
              .filter(Boolean)
              .map(async (name) => [name, `${await repository.git('show', `${sha}:${name}`)}\n`] as const),
          ),
        ),
      () => undefined,
    );
    return { ours: conflicts.length + uncertain.length > 0 ? undefined : await all(tree), conflicts, byGit };
  }
  return { merge, [Symbol.asyncDispose]: () => server.stop() };
}

async function all(tree: Tree, oid = tree.root, prefix = ''): Promise<Files> {
  const found: Record<string, string> = {};
  for (const { kind, name, oid: inner } of await tree.folder(oid)) {
    if (kind === 'folder') Object.assign(found, await all(tree, inner, `${prefix}${name}/`));
    else found[`${prefix}${name}`] = Buffer.from(await tree.file(inner)).toString();
  }
  return found;
}

test('what moved and what changed meet as in Git, and where Git asks a person we do', async (t) => {
  await using at = await stage();
  let [clean, refused, stricter] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(side, side, async (head, target) => {
      const { ours, byGit } = await at.merge(filesOf(head, 'ours'), filesOf(target, 'theirs'));
      if (byGit === undefined) {
        refused++;
        return assert.equal(ours, undefined, 'Git finds a conflict');
      }
      if (ours === undefined) return void stricter++;
      clean++;
      assert.deepEqual(ours, byGit);
    }),
    { numRuns: 40 },
  );
  t.diagnostic(`${clean} merged alike, ${refused} refused alike, ${stricter} refused here alone`);
  assert.ok(clean >= 3 && stricter <= 8);
});

for (const [what, ours, theirs, expected] of [
  [
    'the request moves a file that changed meanwhile',
    { ...base, 'x/a': undefined, 'z/a': content('x/a') },
    { ...base, 'x/a': content('x/a', [3, 'theirs']) },
    { 'z/a': content('x/a', [3, 'theirs']) },
  ],
  [
    'the request changes a file that moved meanwhile',
    { ...base, e: content('e', [3, 'ours']) },
    { ...base, e: undefined, 'z/e': content('e') },
    { 'z/e': content('e', [3, 'ours']) },
  ],
  [
    'the request changes a file of a folder that moved meanwhile',
    { ...base, 'y/d': content('y/d', [3, 'ours']) },
    { ...base, 'y/d': undefined, 'new/d': content('y/d') },
    { 'new/d': content('y/d', [3, 'ours']) },
  ],
] as const) {
  test(`${what}: both meet`, async () => {
    await using at = await stage();
    const files = (some: Readonly<Record<string, string | undefined>>) =>
      Object.fromEntries(Object.entries(some).filter((one): one is [string, string] => one[1] !== undefined));
    const { ours: merged, byGit } = await at.merge(files(ours), files(theirs));
    assert.deepEqual(merged, byGit);
    assert.partialDeepStrictEqual(merged, expected);
  });
}
