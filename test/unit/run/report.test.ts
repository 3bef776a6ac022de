import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposableSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { report } from '../../run/report.ts';
import { notedProcessorSeconds, notesVariable, processorTimes } from '../../support/processor-time.ts';
import { bareMachine } from '../local-cluster/fake-tools.ts';

test('two runs are reported as one: one summary, one list of failures, no file for a test', async () => {
  await using machine = await bareMachine();
  const file = (name: string) => join(machine.directory, name);
  await writeFile(file('a.test.mjs'), "import { test } from 'node:test'; test('passes', () => {});");
  await writeFile(file('b.test.mjs'), "import { test } from 'node:test'; test('fails', () => { throw 1; });");
  await writeFile(file('c.test.mjs'), "import 'node:test';");
  await writeFile(
    file('main.mjs'),
    `import { run } from 'node:test';
     import { report } from ${JSON.stringify(resolve(import.meta.dirname, '../../run/report.ts'))};
     async function* events() {
       for (const name of ['a', 'b', 'c']) yield* run({ files: [import.meta.dirname + '/' + name + '.test.mjs'] });
     }
     const { totals, empty } = await report(events(), process.stdout, () => new Map());
     console.error(JSON.stringify({ totals, empty }));`,
  );
  // A process of its own, that does not know of us: node's runner does not run inside a test.
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file('main.mjs')], { env });

  const totals = { tests: 2, suites: 0, passed: 1, failed: 1, cancelled: 0, skipped: 0, todo: 0 };
  assert.deepEqual(JSON.parse(stderr), { totals, empty: [file('c.test.mjs')] });
  assert.equal(stdout.match(/ tests \d/g)?.length, 1);
  assert.match(stdout, / tests 2\n/);
  assert.match(stdout, / fail 1\n/);
  assert.equal(stdout.match(/failing tests:/g)?.length, 1);
});

test('a run of many files ends with the slowest of them, and their processor time', async () => {
  using notes = mkdtempDisposableSync(join(tmpdir(), 'report-test-'));
  const path = (index: number) => `/of/tests/${index} and more.test.ts`;
  const ended = (index: number) => ({
    type: 'test:summary',
    data: { file: path(index), duration_ms: index * 1000, counts: {} },
  });
  const events = Array.from({ length: 12 }, (_, index) => ended(index));
  for (let index = 5; index < 12; index++)
    await appendFile(join(notes.path, processorTimes), `${100 + index}.25 ${path(index)}\n`);
  const lines = (await reported(events, notes.path)).matchAll(/(\d+) s, of processors +(\S+) s \S*\/(\d+) and/g);
  const processors = (n: number) => (n < 5 ? 'NaN' : `${100 + n}`);
  assert.deepEqual(
    [...lines].map(([, ...told]) => told),
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((n) => [`${n}`, processors(n), `${n}`]),
  );
  assert.doesNotMatch(await reported([ended(1)], notes.path), /1 and more\.test\.ts/);
});

test('a test file notes the processor time of itself and of what it started, once', async () => {
  await using machine = await bareMachine();
  const file = join(machine.directory, 'parent and child.mjs');
  await writeFile(
    file,
    `import { execFileSync } from 'node:child_process';
     const burn = (seconds) => { while (process.cpuUsage().user < seconds * 1e6); };
     if (process.argv[2]) burn(0.2);
     else execFileSync(process.execPath, [...process.execArgv, import.meta.filename, 'child']);
     process.exit(0);`,
  );
  const preload = resolve(import.meta.dirname, '../../run/note-processor-time.ts');
  const env = { ...process.env, [notesVariable]: machine.directory };
  await promisify(execFile)(process.execPath, [`--import=${preload}`, file], { env });

  const noted = [...notedProcessorSeconds(machine.directory)];
  assert.deepEqual(
    noted.map(([name]) => name),
    [file],
  );
  assert.ok(
    noted.every(([, seconds]) => seconds >= 0.2 && seconds < 10),
    `${noted}`,
  );
});

async function reported(events: readonly object[], notes: string): Promise<string> {
  const output = new PassThrough();
  await report(Readable.from(events), output, () => notedProcessorSeconds(notes));
  output.end();
  return text(output);
}
