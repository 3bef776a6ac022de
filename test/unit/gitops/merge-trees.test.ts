import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Commit } from '../../../gitops/git/commit.ts';
import { GitError } from '../../../gitops/git/error.ts';
import type { Tree, TreeEntry } from '../../../gitops/git/tree.ts';
import { findMergeBase } from '../../../gitops/merge/history.ts';
import { type Merge, mergeTrees } from '../../../gitops/merge/merge-trees.ts';
import { isSameTree } from '../../../gitops/merge/same-tree.ts';
import { formatProblem } from '../../../gitops/specs/problem.ts';

/** Files by path; `@…` is a link to there. */
type Files = Readonly<Record<string, string>>;

function shelf() {
  const folders = new Map<string, readonly TreeEntry[]>();
  const files = new Map<string, Uint8Array>();
  const oidOf = (content: string) => createHash('sha1').update(content).digest('hex');
  function put(all: Files): string {
    const children = Map.groupBy(Object.entries(all), ([path]) => path.split('/')[0] ?? '');
    const entries = [...children].map(([name, inside]): TreeEntry => {
      const [[path, content] = ['', '']] = inside;
      if (path === name) {
        const oid = oidOf(content);
        files.set(oid, Buffer.from(content.replace(/^@/, '')));
        return { name, kind: content.startsWith('@') ? 'symlink' : 'file', oid };
      }
      return {
        name,
        kind: 'folder',
        oid: put(Object.fromEntries(inside.map(([p, c]) => [p.slice(name.length + 1), c]))),
      };
    });
    const oid = oidOf(JSON.stringify(entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))));
    folders.set(oid, entries);
    return oid;
  }
  const folder = async (oid: string) => folders.get(oid) ?? Promise.reject(new Error(`no folder ${oid}`));
  const file = async (oid: string) => files.get(oid) ?? Promise.reject(new Error(`no file ${oid}`));
  return { put, folders, objects: { folder, file, need: async () => {} } };
}

async function merge(base: Files, head: Files, target: Files, path = ''): Promise<Merge & { readonly files: Files }> {
  const { put, objects } = shelf();
  const roots = { base: put(base), head: put(head), target: put(target) };
  const merged = await mergeTrees({ objects, ...roots, path, revision: { ref: 'main', sha: 'a'.repeat(40) } });
  return { ...merged, files: await filesOf(merged.tree) };
}

async function filesOf(tree: Tree, oid = tree.root, prefix = ''): Promise<Files> {
  const all: Record<string, string> = {};
  for (const entry of await tree.folder(oid)) {
    const name = `${prefix}${entry.name}`;
    if (entry.kind === 'folder') Object.assign(all, await filesOf(tree, entry.oid, `${name}/`));
    else all[name] = `${entry.kind === 'symlink' ? '@' : ''}${Buffer.from(await tree.file(entry.oid)).toString()}`;
  }
  return all;
}

for (const [what, base, head, target, expected] of [
  [
    'a branch behind shows only its own change',
    { a: '1', b: '1' },
    { a: '2', b: '1' },
    { a: '1', b: '2', c: 'new' },
    { a: '2', b: '2', c: 'new' },
  ],
  ['a file added', { a: '1' }, { a: '1', b: 'x' }, { a: '1' }, { a: '1', b: 'x' }],
  ['a file deleted', { a: '1', b: 'x' }, { a: '1' }, { a: '1', b: 'x' }, { a: '1' }],
  ['both deleted it', { a: '1', b: 'x' }, { a: '1' }, { a: '1' }, { a: '1' }],
  ['both added the same', { a: '1' }, { a: '1', b: 'x' }, { a: '1', b: 'x' }, { a: '1', b: 'x' }],
  [
    'in folders of folders',
    { 'x/y/a': '1', 'x/b': '1' },
    { 'x/y/a': '2', 'x/b': '1' },
    { 'x/y/a': '1', 'x/b': '2' },
    { 'x/y/a': '2', 'x/b': '2' },
  ],
  ['a folder deleted', { 'x/a': '1', b: '1' }, { b: '1' }, { 'x/a': '1', b: '2' }, { b: '2' }],
  ['a file became a folder', { a: '1' }, { 'a/b': '1' }, { a: '1', c: '1' }, { 'a/b': '1', c: '1' }],
  ['a file became a link', { a: '1' }, { a: '@/etc/passwd' }, { a: '1', c: '1' }, { a: '@/etc/passwd', c: '1' }],
] as const satisfies readonly (readonly [string, Files, Files, Files, Files])[]) {
  test(`merged: ${what}`, async () => {
    const { files, conflicts } = await merge(base, head, target);
    assert.deepEqual([files, conflicts], [expected, []]);
  });
}

for (const [what, base, head, target, expected] of [
  [
    'both added it, differently',
    {},
    { a: 'x' },
    { a: 'y' },
    /^a: cannot be merged into main: both sides replaced it, each with something else/,
  ],
  [
    'changed here, deleted there',
    { 'x/a': '1' },
    { 'x/a': '2' },
    { b: 'x' },
    /^x: .*the request changes it, and it was deleted/,
  ],
  [
    'deleted here, changed there',
    { a: '1' },
    {},
    { a: '2' },
    /^a: .*the request deletes \(or moves\) it, and it was changed meanwhile/,
  ],
  ['a link on both sides', { a: '@x' }, { a: '@y' }, { a: '@z' }, /^a: .*something else/],
  ['the same line', { a: '1\n' }, { a: '2\n' }, { a: '3\n' }, /^a:1:1: .*the same lines; merge or rebase the branch$/],
] as const satisfies readonly (readonly [string, Files, Files, Files, RegExp])[]) {
  test(`a conflict names its file: ${what}`, async () => {
    const { files, conflicts, uncertain, changes } = await merge(base, head, target);
    assert.equal(conflicts.length + uncertain.length, 1);
    assert.equal(uncertain.length, /delete/.test(what) ? 1 : 0, 'Git may find where a file went that is gone here');
    assert.match([...conflicts, ...uncertain].map(formatProblem).join(), expected);
    assert.deepEqual(files, target, 'the target stays as it is');
    assert.ok(changes);
  });
}

test('only what is under the path counts, also for conflicts', async () => {
  const base = { 'c/a': '1', other: '1' };
  const elsewhere = await merge(base, { 'c/a': '1', other: '2' }, { 'c/a': '1', other: '3' }, 'c');
  assert.deepEqual([elsewhere.touches, elsewhere.changes, elsewhere.conflicts], [false, false, []]);
  const inside = await merge(base, { 'c/a': '2', other: '2' }, { 'c/a': '1', other: '3' }, './c/');
  assert.deepEqual([inside.touches, inside.changes, inside.conflicts], [true, true, []]);
  assert.deepEqual(inside.files, { 'c/a': '2' });
  const there = await merge(base, { 'c/a': '2', other: '1' }, { 'c/a': '2', other: '1' }, 'c');
  assert.deepEqual([there.touches, there.changes], [true, false], 'the target has it already');
});

test('the path may be one file, and may come and go', async () => {
  const one = await merge({ 'c/a.yaml': '1' }, { 'c/a.yaml': '2' }, { 'c/a.yaml': '1' }, 'c/a.yaml');
  assert.deepEqual(one.files, { 'c/a.yaml': '2' });
  const gone = await merge({ 'c/a.yaml': '1' }, { b: '' }, { 'c/a.yaml': '1' }, 'c');
  assert.deepEqual([gone.files, gone.touches], [{}, true]);
  const came = await merge({ b: '' }, { b: '', 'c/a.yaml': '1' }, { b: '' }, 'c');
  assert.deepEqual(came.files, { 'c/a.yaml': '1' });
});

test('a folder that lists one name twice is refused', async () => {
  const { put, folders, objects } = shelf();
  const [base, target] = [put({ a: '1' }), put({ a: '2', b: '1' })];
  const [entry] = folders.get(base) ?? [];
  assert.ok(entry);
  folders.set('twice', [entry, { ...entry, oid: 'other' }]);
  const input = { objects, base, head: 'twice', target, path: '', revision: { ref: 'main', sha: '' } };
  await assert.rejects(mergeTrees(input), (error) => error instanceof GitError && error.reason === 'BadAnswer');
});

test('folders in folders without end are refused', async () => {
  const deep = (content: string) => ({ [`${'x/'.repeat(200)}a`]: content });
  await assert.rejects(
    merge(deep('1\n'), deep('2\n'), deep('3\n')),
    (error) => error instanceof GitError && error.reason === 'TooLarge',
  );
});

const files = fc.dictionary(
  fc.constantFrom('a', 'b', 'x/a', 'x/b', 'x/y/c', 'z/a'),
  fc.constantFrom('1\n', '2\n', '1\n2\n3\n4\n', '1\n2\n3\n5\n', '@x'),
  { noNullPrototype: true },
);

test('for any three trees: an unchanged side yields to the other, and sides may be swapped', async () => {
  await fc.assert(
    fc.asyncProperty(files, files, files, async (base, ours, theirs) => {
      assert.deepEqual((await merge(base, ours, base)).files, ours);
      assert.deepEqual((await merge(base, base, theirs)).files, theirs);
      const [one, other] = [await merge(base, ours, theirs), await merge(base, theirs, ours)];
      const [isLeft, isOtherLeft] = [one, other].map(
        ({ conflicts, uncertain }) => conflicts.length + uncertain.length > 0,
      );
      assert.equal(isLeft, isOtherLeft);
      if (!isLeft) assert.deepEqual(one.files, other.files);
    }),
    { numRuns: 500 },
  );
});

test('merges are compared by what they hold', async () => {
  const base = { 'x/a': '1\n2\n3\n4\n5\n', b: '1' };
  const [head, target] = [
    { ...base, 'x/a': '0\n2\n3\n4\n5\n' },
    { ...base, 'x/a': '1\n2\n3\n4\n6\n' },
  ];
  const [one, again] = [await merge(base, head, target), await merge(base, target, head)];
  assert.ok(await isSameTree(one.tree, again.tree));
  for (const other of [await merge(base, head, base), await merge(base, head, { ...target, b: '2' })])
    assert.equal(await isSameTree(one.tree, other.tree), false);
  const [less] = [await merge(base, { 'x/a': head['x/a'] }, target)];
  assert.equal(await isSameTree(one.tree, less.tree), false);
  assert.equal(await isSameTree(less.tree, one.tree), false);
});

/** `{ c: ['b'] }`: c comes after b. The later named, the newer. */
function history(parents: Readonly<Record<string, readonly string[]>>) {
  const names = Object.keys(parents);
  const commit = async (sha: string): Promise<Commit | undefined> =>
    parents[sha] && { tree: '', parents: parents[sha], at: names.indexOf(sha) };
  return { commit };
}

for (const [what, parents, expected] of [
  ['one is the other', { main: [], head: ['main'] }, { kind: 'base', sha: 'main', others: [] }],
  ['merged already', { head: [], main: ['head'] }, { kind: 'base', sha: 'head', others: [] }],
  ['parted', { a: [], b: ['a'], head: ['b'], main: ['b'] }, { kind: 'base', sha: 'b', others: [] }],
  [
    'merged from main since',
    { a: [], m: ['a'], h: ['a'], head: ['h', 'm'], main: ['m'] },
    { kind: 'base', sha: 'm', others: [] },
  ],
  [
    'merged crosswise: the newest first',
    { a: [], x: ['a'], y: ['a'], head: ['x', 'y'], main: ['y', 'x'] },
    { kind: 'base', sha: 'y', others: ['x'] },
  ],
  ['nothing in common', { head: [], main: [] }, { kind: 'unrelated' }],
  [
    // Of `cut` nothing but its name was fetched, and it comes after m: an old branch that was merged is no short cut
    // past it.
    'past what was fetched, another way round',
    { a: [], m: ['a'], h: ['cut'], head: ['h', 'a'], main: ['m'] },
    { kind: 'deeper' },
  ],
  [
    'what is cut off is common, and older',
    { a: ['cut'], h: ['a'], head: ['h'], main: ['a'] },
    { kind: 'base', sha: 'a', others: [] },
  ],
  ['its first commit was not fetched', { main: [] }, { kind: 'deeper' }],
  ['not fetched deep enough', { head: ['old'], main: ['older'] }, { kind: 'deeper' }],
  ['a commit that goes round', { head: ['main'], main: ['head'] }, { kind: 'unrelated' }],
] as const) {
  test(`where two histories parted: ${what}`, async () => {
    assert.deepEqual(await findMergeBase(history(parents), 'head', 'main'), expected);
  });
}
