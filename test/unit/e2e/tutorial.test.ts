import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { follow } from '../../e2e/support/tutorial.ts';
import { blocksOf } from '../../support/docs/blocks.ts';

const page = (...blocks: readonly string[]) => blocksOf('docs/a.md', `# A\n\n${blocks.join('\n')}`);
const options = { cwd: tmpdir(), env: process.env };

test('a page whose commands print what it says is followed in one shell', async () => {
  await follow(
    page(
      '```sh\nx="1  2"\n```',
      '```\nnot typed\n```',
      '```sh\necho "a $x orders-7"\n```',
      '```text\na 1 2 orders-…\n```',
    ),
    options,
  );
});

test('a command that fails is told with its page and line', async () => {
  await assert.rejects(follow(page('```sh\ntrue\n```', '```sh\nfalse\ntrue\n```'), options), {
    message: /^docs\/a\.md:7: exit code 1/,
  });
});

test('a line that was not printed is told with its page and line', async () => {
  await assert.rejects(follow(page('```sh\necho yes\n```', '```text\nyes\nno\n```'), options), {
    message: /^docs\/a\.md:8: no line is like "no"/,
  });
});
