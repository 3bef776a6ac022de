import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bareMachine } from '../local-cluster/fake-tools.ts';

const preload = pathToFileURL(resolve(import.meta.dirname, '../../run/untracked-promises.ts')).href;

/** What node's runner tells of a file with one test of this body. */
async function failuresOf(body: string): Promise<readonly { readonly name: string; readonly cause: string }[]> {
  await using machine = await bareMachine();
  const file = join(machine.directory, 'one.test.mjs');
  await writeFile(
    file,
    `import { test } from 'node:test';
     const later = () => new Promise((resolve) => setImmediate(resolve));
     test('the test', async () => { ${body}; for (let turn = 0; turn < 9; turn += 1) await later(); });`,
  );
  const main = join(machine.directory, 'main.mjs');
  await writeFile(
    main,
    `import { run } from 'node:test';
     const [files, execArgv] = [[${JSON.stringify(file)}], ['--import=' + ${JSON.stringify(preload)}]];
     const failures = [];
     for await (const { type, data } of run({ files, execArgv })) {
       if (type === 'test:diagnostic') failures.push({ name: '', cause: data.message });
       if (type === 'test:fail') failures.push({ name: data.name, cause: String(data.details.error.cause) });
     }
     console.log(JSON.stringify(failures.filter(({ name, cause }) => name !== '' || cause.startsWith('Error'))));`,
  );
  // A process of its own, that does not know of us: node's runner does not run inside a test.
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [main], { env });
  return JSON.parse(stdout);
}

test('an error of a timer fails its test, though promises are not followed', async () => {
  const [failure] = await failuresOf("setImmediate(() => { throw new Error('of a timer'); })");
  assert.deepEqual(failure, { name: 'the test', cause: 'Error: of a timer' });
});

test('an error of a promise that no test awaits fails the file, and is told', async () => {
  const [told, failure, ...others] = await failuresOf("later().then(() => { throw new Error('of a promise'); })");
  assert.match(told?.cause ?? '', /"Error: of a promise" which triggered an unhandledRejection/);
  assert.match(failure?.name ?? '', /one\.test\.mjs$/);
  assert.deepEqual(others, []);
});
