import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { createLog } from '../../../functions/log.ts';
import { printable } from '../../../manifests/printable.ts';

/** Lines for log collectors, with text that others chose. */

let directory: string;
let fd: number;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'ratchet-log-'));
  fd = openSync(join(directory, 'log'), 'w');
});
after(() => {
  closeSync(fd);
  rmSync(directory, { recursive: true });
});

/** What may be anywhere in a name; and a character beyond the first 65,536 that no one sees. */
const nasty = fc.constantFrom(
  '\u202e',
  '\u2066',
  '\u061c',
  '\u200b',
  '\u00ad',
  '\ufeff',
  '\u2028',
  '\u001b[2J',
  '\n',
  '\r',
  '\u0085',
  '\u{e0041}',
  '"',
  '\\',
  '\\u202e',
  'ö',
  '👩‍👩‍👧',
  '\ud800',
);
const text = fc
  .array(fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 8 })), { maxLength: 8 })
  .map((some) => some.join(''));
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test('whatever is logged is one line of JSON, shows all that it holds, and means the same', async () => {
  const log = await createLog({ fd, write: () => assert.fail('that is for terminals') });
  let read = 0;
  fc.assert(
    fc.property(text, text, text, (message, problem, name) => {
      log({ problem, of: { [name]: [problem] } }, message);
      const line = readFileSync(join(directory, 'log'), 'utf8').slice(read);
      read += line.length;
      assert.ok(line.endsWith('\n'));
      assert.doesNotMatch(line.slice(0, -1), unseen);
      const { msg, problem: told, of } = JSON.parse(line);
      const whole = (said: string) => said.toWellFormed();
      assert.deepEqual([whole(msg), whole(told)], [whole(message), whole(problem)]);
      assert.deepEqual(Object.keys(of).map(whole), [whole(name)]);
    }),
    { numRuns: 500 },
  );
});

test('a JSON document means the same when it is made printable, whatever is in it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const said = JSON.stringify(value);
      assert.doesNotMatch(printable(said), unseen);
      assert.deepEqual(JSON.parse(printable(said)), JSON.parse(said));
    }),
  );
});
