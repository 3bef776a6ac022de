import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { report } from '../../run/report.ts';
import { bareMachine } from '../local-cluster/fake-tools.ts';

test('two runs are reported as one: one summary, one list of failures', async () => {
  await using machine = await bareMachine();
  const file = (name: string) => join(machine.directory, name);
  await writeFile(file('a.test.mjs'), "import { test } from 'node:test'; test('passes', () => {});");
  await writeFile(file('b.test.mjs'), "import { test } from 'node:test'; test('fails', () => { throw 1; });");
  await writeFile(
    file('main.mjs'),
    `import { run } from 'node:test';
     import { report } from ${JSON.stringify(resolve(import.meta.dirname, '../../run/report.ts'))};
     async function* events() {
       for (const name of ['a', 'b']) yield* run({ files: [import.meta.dirname + '/' + name + '.test.mjs'] });
     }
     const totals = await report(events(), process.stdout);
     console.error(JSON.stringify(totals));`,
  );
  // A process of its own, that does not know of us: node's runner does not run inside a test.
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file('main.mjs')], { env });

  const totals = { tests: 2, suites: 0, passed: 1, failed: 1, cancelled: 0, skipped: 0, todo: 0 };
  assert.deepEqual(JSON.parse(stderr), totals);
  assert.equal(stdout.match(/ tests \d/g)?.length, 1);
  assert.match(stdout, / tests 2\n/);
  assert.match(stdout, / fail 1\n/);
  assert.equal(stdout.match(/failing tests:/g)?.length, 1);
});

test('a run of many files ends with the slowest of them', async () => {
  const ended = (index: number) => ({
    type: 'test:summary',
    data: { file: `/of/tests/${index}.test.ts`, duration_ms: index * 1000, counts: {} },
  });
  const printed = await reported(Array.from({ length: 12 }, (_, index) => ended(index)));
  const named = [...printed.matchAll(/(\d+) s \S*\/(\d+)\.test\.ts/g)].map(([, seconds, index]) => [seconds, index]);
  assert.deepEqual(
    named,
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((n) => [`${n}`, `${n}`]),
  );
  assert.doesNotMatch(await reported([ended(1)]), /1\.test\.ts/);
});

async function reported(events: readonly object[]): Promise<string> {
  const output = new PassThrough();
  await report(Readable.from(events), output);
  output.end();
  return text(output);
}
