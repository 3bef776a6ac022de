import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForgeError } from '../../../../gitops/forges/error.ts';
import { type CommentThread, keepOneComment, type ToldComment } from '../../../../gitops/forges/one-comment.ts';

const marker = '<!-- etcd-ratchet -->';

/** A thread in pages of two that remembers what was written. */
function thread(comments: readonly ToldComment[], endless = false): CommentThread & { readonly written: string[] } {
  const written: string[] = [];
  return {
    written,
    address: 'https://forge.example.com',
    async page(number) {
      const start = (number - 1) * 2;
      return { comments: comments.slice(start, start + 2), last: !endless && start + 2 >= comments.length };
    },
    async create(body) {
      written.push(`create ${body}`);
    },
    async update(id, body) {
      written.push(`update ${id} ${body}`);
    },
  };
}

function comment(id: number, body: string, ours = true): ToldComment {
  return { id, body, ours };
}

for (const [name, comments, expected] of [
  ['an empty thread', [], [`create ${marker}\nnew`]],
  ['others’ comments', [comment(1, 'hello', false)], [`create ${marker}\nnew`]],
  ['a marker that others wrote', [comment(1, `${marker}\nold`, false)], [`create ${marker}\nnew`]],
  ['our own comment about something else', [comment(1, 'hello')], [`create ${marker}\nnew`]],
  ['a marker in the middle', [comment(1, `see ${marker}`)], [`create ${marker}\nnew`]],
  ['ours', [comment(1, `${marker}\nold`)], [`update 1 ${marker}\nnew`]],
  [
    'ours on a later page',
    [comment(1, 'a'), comment(2, 'b'), comment(3, 'c'), comment(4, `${marker}\nold`)],
    [`update 4 ${marker}\nnew`],
  ],
  ['ours, the same', [comment(1, `${marker}\nnew`)], []],
  ['ours, the same with other line ends', [comment(1, `${marker}\r\nnew`)], []],
] as const) {
  test(`in a thread with ${name}, ${expected.length === 0 ? 'nothing is written' : expected[0].split('\n')[0]}`, async () => {
    const there = thread(comments);
    await keepOneComment(there, { marker, body: 'new' });
    assert.deepEqual(there.written, expected);
  });
}

test('in a thread that never ends nothing is written, rather than twice', async () => {
  const there = thread(
    Array.from({ length: 100 }, (_, id) => comment(id, 'x')),
    true,
  );
  await assert.rejects(keepOneComment(there, { marker, body: 'new' }), (error) => {
    assert.ok(error instanceof ForgeError);
    return error.class === 'status';
  });
  assert.deepEqual(there.written, []);
});

test('a text too long for a comment is cut at a line’s end, and said to be', async () => {
  const there = thread([]);
  await keepOneComment(there, { marker, body: `${'a line of thirty characters...\n'.repeat(10_000)}end` });
  const [written = ''] = there.written;
  assert.ok(written.length < 65_536);
  assert.match(written, /characters\.\.\.\n\n… cut: too long for a comment\n$/);
});

test('a text of one endless line is cut, too', async () => {
  const there = thread([]);
  await keepOneComment(there, { marker, body: 'x'.repeat(200_000) });
  const [written = ''] = there.written;
  assert.ok(written.length < 65_536);
  assert.ok(written.startsWith(`create ${marker}`));
});
