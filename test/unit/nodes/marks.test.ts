import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../../manifests/kube-types.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { type MarkChange, marksOf, needOf, noMarks, withMarks } from '../../../reconcile/nodes/marks.ts';

function nodeWith(found: Readonly<Record<string, string>>): Node {
  return { metadata: { name: 'node-1', annotations: found } };
}

const at = new Date('2026-11-23T12:00:00.789Z');

test('what is written as a mark is read again, to the second', () => {
  const words: MarkChange = { granted: '0123456789abcdef', cordoned: 'by-us', now: 'uid', putOff: 'DrainTimedOut' };
  const found = marksOf(nodeWith(withMarks({}, words, { at })));
  assert.deepEqual(found.granted, { at: new Date('2026-11-23T12:00:00Z'), word: '0123456789abcdef' });
  assert.deepEqual(Object.keys(found).toSorted(), ['cordoned', 'granted', 'now', 'putOff']);
});

test('marks that are taken away leave all other annotations alone', () => {
  const before = { 'example.com/note': 'any text', [annotations.rebootNeeded]: 'kernel' };
  const marked = withMarks(
    before,
    { granted: 'a', cordoned: 'by-us', inProgress: 'b', returned: 'c', now: 'd' },
    { at },
  );
  assert.deepEqual(withMarks(marked, noMarks, { at }), before);
  assert.deepEqual(withMarks(marked, noMarks, { at, needed: false }), { 'example.com/note': 'any text' });
});

const hostile = [
  '',
  ' ',
  'yes',
  '2026-11-23T12:00:00Z',
  '2026-11-23T12:00:00Z ',
  '2026-13-45T99:99:99Z id',
  '2026-11-23T12:00:00Z two words',
  `2026-11-23T12:00:00Z ${'x'.repeat(129)}`,
  '2026-11-23T12:00:00Z id\n2026-11-23T12:00:00Z id',
  '2026-11-23T12:00:00Z \u001b[31mid',
  '-2026-11-23T12:00:00Z id',
  '{"at":"2026-11-23T12:00:00Z"}',
];
for (const text of hostile)
  test(`a mark that a stranger wrote as ${JSON.stringify(text).slice(0, 40)} is not there`, () => {
    assert.deepEqual(marksOf(nodeWith({ [annotations.rebootGranted]: text, [annotations.rebootNow]: text })), {});
  });

test('the cause of a wish is short, has no control characters, and may be missing', () => {
  const cause = (text: string) => needOf(nodeWith({ [annotations.rebootNeeded]: text }));
  assert.equal(needOf(nodeWith({})), undefined);
  assert.equal(cause(''), 'no cause is given');
  assert.equal(cause('\u001b[2J\u202ekernel\n'), '[2J kernel');
  assert.equal(cause('x'.repeat(100_000))?.length, 200);
});
