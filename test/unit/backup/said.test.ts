import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseSaid } from '../../../reconcile/backup/said.ts';
import { proof, record } from './scene.ts';

const taken = { ok: true, operation: 'backup', record };

test('what the agent says of a backup, of a proof and of a failure is read', () => {
  assert.deepEqual(parseSaid(JSON.stringify(taken)), { kind: 'record', record });
  assert.deepEqual(parseSaid(JSON.stringify({ ...taken, operation: 'look' })), { kind: 'record', record });
  assert.deepEqual(parseSaid(JSON.stringify({ ok: true, operation: 'compare', proof })), { kind: 'proof', proof });
  assert.deepEqual(parseSaid(JSON.stringify({ ok: false, reason: 'Forbidden', message: 'no  way\n', record })), {
    kind: 'failure',
    reason: 'Forbidden',
    message: 'no way',
  });
});

for (const [what, message] of [
  ['nothing', ''],
  ['no JSON', 'killed'],
  ['cut off', JSON.stringify(taken).slice(0, 400)],
  ['too long', JSON.stringify({ ...taken, padding: 'x'.repeat(5000) })],
  ['null', 'null'],
  ['a list', '[]'],
  ['a word that is not in the table', '{"ok":false,"reason":"Fine","message":"x"}'],
  ['a word of every object', '{"ok":false,"reason":"constructor","message":"x"}'],
  ['a message that is no text', '{"ok":false,"reason":"Forbidden","message":{"a":1}}'],
  ['ok, and nothing else', '{"ok":true,"operation":"backup"}'],
  ['a record without an object', JSON.stringify({ ...taken, record: { ...record, object: undefined } })],
  ['a record of no version', JSON.stringify({ ...taken, record: { ...record, etcdVersion: 'latest' } })],
  [
    'an image in place of a version',
    JSON.stringify({ ...taken, record: { ...record, etcdVersion: '3.6.16@sha256:0' } }),
  ],
  ['a cluster ID of words', JSON.stringify({ ...taken, record: { ...record, clusterId: 'other' } })],
  ['a time that no status may have', JSON.stringify({ ...taken, record: { ...record, takenAt: 'Nov 22, 2026' } })],
  [
    'a name beyond all bounds',
    JSON.stringify({ ...taken, record: { ...record, object: `gs://b/${'x'.repeat(1200)}` } }),
  ],
  [
    'a proof of less than nothing',
    JSON.stringify({ ok: true, operation: 'compare', proof: { ...proof, revision: -1 } }),
  ],
  ['a hash of text', JSON.stringify({ ok: true, operation: 'compare', proof: { ...proof, hashKV: 'x' } })],
] as const) {
  test(`a termination message that is ${what} is none of the agent's`, () => {
    assert.equal(parseSaid(message), undefined);
  });
}

test('no message throws, and what is taken of it is short and on one line', () => {
  const messages = fc.oneof(
    fc.string({ maxLength: 5000, unit: 'binary' }),
    fc.json(),
    fc
      .string({ unit: 'binary', maxLength: 3000 })
      .map((message) => JSON.stringify({ ok: false, reason: 'Full', message })),
  );
  fc.assert(
    fc.property(messages, (text) => {
      const said = parseSaid(text);
      if (said?.kind !== 'failure') return;
      assert.ok(said.message.length <= 1500);
      assert.doesNotMatch(said.message, /[\p{Cc}\u2028\u2029]/u);
    }),
  );
});
