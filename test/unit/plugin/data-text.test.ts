import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { dataText } from '../../../functions/plugin/objects.ts';

const steering = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const texts = [
  'two lines\nof plain text',
  '\u009b31m',
  '\u202egnp.exe',
  'on',
  '0b1',
  'a tab\tand a bell\u0007',
  'line\n\u2028other',
  '# no comment',
  ' spaces ',
  'x'.repeat(500),
  `${'word '.repeat(60)}\u200b`,
  '\u{e0041}',
];

for (const output of ['json', 'yaml'] as const)
  test(`what steers a terminal is escaped in ${output}, and a program reads the same texts`, () => {
    const data = { message: texts[1], items: texts.map((text, at) => ({ at, text, [`key ${at}`]: text })) };
    const shown = dataText(data, output);
    for (const line of shown.split('\n')) assert.doesNotMatch(line, steering);
    assert.deepEqual(output === 'json' ? JSON.parse(shown) : parse(shown, { version: '1.1' }), data);
    assert.deepEqual(parse(shown), data);
  });

test('what steers nothing is written as before', () => {
  assert.equal(dataText({ a: 'b', c: ['d\ne'] }, 'yaml'), 'a: b\nc:\n  - |-\n    d\n    e\n');
  assert.equal(dataText({ a: 1 }, 'json'), '{\n  "a": 1\n}\n');
});
