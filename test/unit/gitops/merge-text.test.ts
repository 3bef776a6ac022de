import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeText } from '../../../gitops/merge/merge-text.ts';
import { processorSeconds } from '../../support/processor-time.ts';

function merge(base: string, head: string, target: string): string {
  const result = mergeText(Buffer.from(base), Buffer.from(head), Buffer.from(target));
  return result.kind === 'merged'
    ? Buffer.from(result.bytes).toString()
    : `conflict at ${result.line}: ${result.because}`;
}

const same = 'both sides changed the same lines';

for (const [what, base, head, target, expected] of [
  ['changes in two places', 'a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nb\nc\nD\n', 'A\nb\nc\nD\n'],
  ['the same change', 'a\nb\n', 'a\nB\n', 'a\nB\n', 'a\nB\n'],
  ['an addition at each end', 'a\nb\nc\n', '0\na\nb\nc\n', 'a\nb\nc\n9\n', '0\na\nb\nc\n9\n'],
  ['one side emptied it', 'a\nb\n', '', 'a\nb\n', ''],
  ['both emptied it', 'a\nb\n', '', '', ''],
  ['Windows line ends', 'a\r\nb\r\nc\r\nd\r\n', 'A\r\nb\r\nc\r\nd\r\n', 'a\r\nb\r\nc\r\nD\r\n', 'A\r\nb\r\nc\r\nD\r\n'],
  ['a byte order mark', '\ufeffa\nb\nc\nd\n', '\ufeffa\nb\nc\nD\n', '\ufeffA\nb\nc\nd\n', '\ufeffA\nb\nc\nD\n'],
  [
    'words that objects have',
    '__proto__\nb\nc\nd\n',
    '__proto__\nb\nc\nconstructor\n',
    'x\nb\nc\nd\n',
    'x\nb\nc\nconstructor\n',
  ],
  ['the same line, differently', 'a\nb\nc\n', 'a\nB\nc\n', 'a\nX\nc\n', `conflict at 2: ${same}`],
  ['neighbouring lines', 'a\nb\nc\nd\n', 'a\nB\nc\nd\n', 'a\nb\nC\nd\n', `conflict at 2: ${same}`],
  ['a last line without its end', 'a\nb', 'a\nb\n', 'a\nb\nc', `conflict at 2: ${same}`],
  ['no text', 'a\0', 'b\0', 'c\0', 'conflict at 0: both sides changed it, and it is not text of at most 1 MiB'],
] as const) {
  test(`a file changed on both sides: ${what}`, () => {
    assert.equal(merge(base, head, target), expected);
  });
}

test('a file that would take too long to compare is a conflict, soon', () => {
  const lines = (text: string, count: number) => `${text}\n`.repeat(count);
  const before = processorSeconds();
  const hostile: readonly (readonly [string, string, string])[] = [
    [lines('a', 500_000), `x\n${lines('a', 400_000)}`, `${lines('a', 400_000)}y\n`],
    [lines('a', 100), lines('b', 500_000), `${lines('a', 100)}${lines('b', 400_000)}`],
    [lines('a\nb', 100_000), lines('b\na', 120_000), lines('a\na\nb', 100_000)],
  ];
  for (const [base, head, target] of hostile) merge(base, head, target);
  assert.ok(processorSeconds() - before < 5);
});

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', 'spec:', '  replicas: 3', '', '}'), { maxLength: 12 })
  .map((lines) => lines.map((line) => `${line}\n`).join(''));

test('for any three texts: an unchanged side yields to the other, and sides may be swapped', () => {
  fc.assert(
    fc.property(text, text, text, (base, ours, theirs) => {
      assert.equal(merge(base, ours, base), ours);
      assert.equal(merge(base, base, theirs), theirs);
      assert.equal(merge(base, ours, ours), ours);
      const [one, other] = [merge(base, ours, theirs), merge(base, theirs, ours)];
      if (!one.startsWith('conflict')) assert.equal(one, other);
      else assert.ok(other.startsWith('conflict'));
    }),
    { numRuns: 2000 },
  );
});
