import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describe } from '../../../gitops/statuses/describe.ts';
import { longestDescription } from '../../../manifests/description.ts';

for (const [name, message, expected] of [
  ['a short message stays', '3 of 3 members are healthy', '3 of 3 members are healthy'],
  ['lines become one', 'one\r\n\ttwo\u2028three ', 'one two three'],
  ['control and direction characters vanish', 'a\u0000b\u001b[31mc\u202ed', 'a b [31mc d'],
  ['exactly 140 stay', 'x'.repeat(140), 'x'.repeat(140)],
  ['a long word is cut anywhere', 'x'.repeat(141), `${'x'.repeat(139)}…`],
  [
    'words are cut between, without a dangling comma',
    `${'word '.repeat(27)}last, ${'y'.repeat(40)}`,
    `${'word '.repeat(27).trim()}…`,
  ],
  [
    'a sentence that is barely begun is left out',
    `${'word '.repeat(25)}last. To go on: ${'y'.repeat(40)}`,
    `${'word '.repeat(25)}last…`,
  ],
  [
    'a sentence of which more fits stays',
    `${'word '.repeat(20)}last. To go on: restore it, ${'y'.repeat(40)}`,
    `${'word '.repeat(20)}last. To go on: restore it…`,
  ],
  ['a word that just fits is kept', `${'x'.repeat(139)} y`, `${'x'.repeat(139)}…`],
  ['half a surrogate pair is replaced', 'a\ud800', 'a\ufffd'],
] as const) {
  test(name, () => assert.equal(describe(message), expected));
}

test('no emoji is torn', () => {
  const family = '👨‍👩‍👧';
  const text = describe(family.repeat(50));
  assert.match(text, new RegExp(`^(${family})+…$`, 'u'));
});

test('any message fits, is one well-formed line, and describing it again changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (message) => {
      const text = describe(message);
      assert.ok(text.length <= longestDescription);
      assert.ok(text.isWellFormed());
      assert.doesNotMatch(text, /[\p{Cc}\n\r]/u);
      assert.equal(describe(text), text);
    }),
  );
});
