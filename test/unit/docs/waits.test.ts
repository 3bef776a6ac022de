import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tutorials } from '../../support/docs/pages.ts';
import { read } from './pages.ts';

/** What a reader sees nothing of for a while. */
const waits = /kubectl .*\bwait --for|\bsleep \d|\bcurl .*--retry\b/g;
const said = /\busually (?:(?:within|after|in) )?\d+ s\b/g;

interface Block {
  readonly commands: string;
  readonly waits: number;
  /** Times that the paragraph before it tells. */
  readonly said: number;
}

/** The blocks of commands that wait, on a page. */
function waitingIn(text: string): readonly Block[] {
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(({ index, 1: commands = '' }) => {
      const saying = text.slice(0, index).trimEnd().split('\n\n').at(-1) ?? '';
      const count = (words: string, what: RegExp) => words.match(what)?.length ?? 0;
      return { commands, waits: count(commands, waits), said: count(saying.replaceAll('\n', ' '), said) };
    })
    .filter((block) => block.waits > 0);
}

for (const page of tutorials)
  test(`each wait of ${page} says how long it usually takes`, () => {
    const blocks = waitingIn(read(page));
    assert.ok(blocks.length > 0);
    assert.deepEqual(
      blocks.filter((block) => block.waits !== block.said),
      [],
    );
  });

test('a wait without a word about it is found, beside one that is told', () => {
  const commands = 'kubectl wait --for=create pod/a\nkubectl -n b wait --for=condition=Ready pod/a\n';
  const page = `# A\n\nIt is there\nusually after 2 s:\n\n\`\`\`sh\n${commands}\`\`\`\n`;
  assert.deepEqual(waitingIn(page), [{ commands, waits: 2, said: 1 }]);
  const asking = 'curl -sf --retry 20 http://forge\n';
  assert.deepEqual(waitingIn(`It merges:\n\n\`\`\`sh\n${asking}\`\`\`\n`), [{ commands: asking, waits: 1, said: 0 }]);
});

test('no tutorial reads by JSONPath, nor writes a program: the plugin shows what is needed', () => {
  for (const page of tutorials) {
    const text = read(page);
    assert.doesNotMatch(text, /jsonpath/i, page);
    assert.doesNotMatch(text, /^etcdctl\b/m, page);
  }
});
