import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { perFile } from '../../run/per-file.ts';
import { endOf } from '../../run/run-files.ts';
import { unitGroups } from '../../run/unit-groups.ts';
import { bareMachine, type Machine } from '../local-cluster/fake-tools.ts';

const importing = "import { test, before, mock } from 'node:test'; import assert from 'node:assert';";

async function written(machine: Machine, files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const folder = join(machine.directory, 'tests');
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), `${importing}\n${text}`);
  return Object.keys(files).map((name) => join(folder, name));
}

/** In a process that does not know of this one: node's runner does not run inside a test. */
async function ran(machine: Machine, files: readonly string[]) {
  const from = (name: string) => JSON.stringify(resolve(import.meta.dirname, '../../run', name));
  const main = join(machine.directory, 'main.mjs');
  await writeFile(
    main,
    `import { run } from 'node:test';
     import { perFile } from ${from('per-file.ts')};
     import { notedProcessorSeconds } from ${from('../support/processor-time.ts')};
     import { unitGroups } from ${from('unit-groups.ts')};
     const directory = ${JSON.stringify(machine.directory)};
     const groups = unitGroups(${JSON.stringify(files)}, directory);
     const told = { groups: groups.length, files: {}, names: [] };
     for await (const { type, data } of perFile(run({ files: groups.map(({ entry }) => entry) }), groups)) {
       if (type === 'test:summary' && data.file) told.files[data.file.split('/').at(-1)] = data.success;
       else if (type === 'test:summary') told.suites = data.counts.suites;
       else if (type === 'test:pass') told.names.push(data.name);
     }
     told.noted = [...notedProcessorSeconds(directory).keys()].map((file) => file.split('/').at(-1));
     console.log(JSON.stringify(told));`,
  );
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [main], { env });
  return JSON.parse(stdout) as {
    readonly groups: number;
    readonly files: Readonly<Record<string, boolean>>;
    readonly names: readonly string[];
    readonly noted: readonly string[];
    readonly suites: number;
  };
}

test('files of a folder share a process, and each is told with its end and its processor time', async () => {
  await using machine = await bareMachine();
  const files = await written(machine, {
    'a.test.mjs': "globalThis.seen = 1; test('a is first', () => {});",
    'b.test.mjs': "test('b is in the same process', () => assert.equal(globalThis.seen, 1));",
  });
  const { groups, suites, ...told } = await ran(machine, files);
  assert.deepEqual([groups, suites], [1, 0]);
  assert.deepEqual(told.files, { 'a.test.mjs': true, 'b.test.mjs': true });
  assert.deepEqual(told.names, ['a is first', 'b is in the same process']);
  assert.deepEqual(told.noted, ['a.test.mjs', 'b.test.mjs']);
});

test('what a file does to variables and by mocks does not reach its neighbours', async () => {
  await using machine = await bareMachine();
  const files = await written(machine, {
    'a.test.mjs': `process.env.OF_A = 'x'; delete process.env.PATH;
      test('mocks', () => { mock.timers.enable({ apis: ['Date'] }); mock.method(Math, 'max', () => 7); });`,
    'b.test.mjs': `test('finds all as it was', () => {
      assert.deepEqual([process.env.OF_A, typeof process.env.PATH, Math.max(1, 2)], [undefined, 'string', 2]);
      assert.ok(Date.now() > 0);
    });`,
  });
  assert.deepEqual((await ran(machine, files)).files, { 'a.test.mjs': true, 'b.test.mjs': true });
});

test('what removes directories waits by the real clock, also when its first user mocks timers', async () => {
  await using machine = await bareMachine();
  const files = await written(machine, {
    'a.test.mjs': `import { rm } from 'node:fs/promises';
      test('mocks', async (t) => {
        t.mock.timers.enable({ apis: ['setTimeout'] });
        await rm('absent', { recursive: true, force: true });
      });`,
    'b.test.mjs': `import { spawn } from 'node:child_process';
      import { once } from 'node:events';
      import { mkdir, rm } from 'node:fs/promises';
      test('removes what is in use', { timeout: 20_000 }, async () => {
        const busy = import.meta.dirname + '/busy';
        await mkdir(busy);
        const script = 'echo; i=0; while [ $i -lt 3000 ] && echo x > "$0/$i"; do i=$((i+1)); done';
        const writer = spawn('sh', ['-c', script, busy], { stdio: ['ignore', 'pipe', 'ignore'] });
        const ended = once(writer, 'exit');
        await once(writer.stdout, 'data');
        await rm(busy, { recursive: true, maxRetries: 8 });
        await ended;
      });`,
  });
  assert.deepEqual((await ran(machine, files)).files, { 'a.test.mjs': true, 'b.test.mjs': true });
});

test('of files that share a process, those that fail or can not be loaded are told', async () => {
  await using machine = await bareMachine();
  const files = await written(machine, {
    'a.test.mjs': "test('fails', () => assert.fail());",
    'b.test.mjs': 'throw new Error();',
    'c.test.mjs': "test('passes', () => {});",
  });
  assert.deepEqual((await ran(machine, files)).files, {
    'a.test.mjs': false,
    'b.test.mjs': false,
    'c.test.mjs': true,
  });
});

test('where a file ends the process, each file of which nothing is known has failed', async () => {
  await using machine = await bareMachine();
  const files = await written(machine, {
    'a.test.mjs': "test('ends it all', () => process.exit(3));",
    'b.test.mjs': "test('is not reached', () => {});",
  });
  assert.deepEqual((await ran(machine, files)).files, { 'a.test.mjs': false, 'b.test.mjs': false });
});

test('a file with hooks for its whole process has one of its own', async () => {
  await using machine = await bareMachine();
  const files = await written(machine, {
    'a.test.mjs': "before(() => { globalThis.seen = 1; });\ntest('a', () => {});",
    'b.test.mjs': "test('b sees nothing of a', () => assert.equal(globalThis.seen, undefined));",
    'c.test.mjs': "test('c', () => {});",
  });
  const groups = unitGroups(files, machine.directory);
  assert.deepEqual(
    groups.map(({ files: inside }) => inside.length),
    [1, 2],
  );
  assert.ok(Object.values((await ran(machine, files)).files).every(Boolean));
});

test('a large folder has several processes, none of them much larger than another', async () => {
  await using machine = await bareMachine();
  const names = Array.from({ length: 50 }, (_, index) => [`${index}.test.mjs`, "test('passes', () => {});"]);
  const files = await written(machine, Object.fromEntries(names));
  const groups = unitGroups(files, machine.directory);
  assert.deepEqual(
    groups.map(({ files: inside }) => inside.length),
    [17, 17, 16],
  );
  assert.deepEqual(groups.flatMap(({ files: inside }) => inside).toSorted(), files.toSorted());
  assert.equal(new Set(groups.map(({ entry }) => entry)).size, 3);
});

test('a test may wait for a timer that keeps no process up, and its neighbours still run', async () => {
  await using machine = await bareMachine();
  const files = await written(machine, {
    'a.test.mjs': "test('waits', () => new Promise((resolve) => { setTimeout(resolve, 200).unref(); }));",
    'b.test.mjs': "test('passes', () => {});",
  });
  assert.deepEqual((await ran(machine, files)).files, { 'a.test.mjs': true, 'b.test.mjs': true });
});

test('a file of a group is told with its own time, whatever files beside it take', async () => {
  const passed = (name: string, file: string, duration_ms: number) =>
    ({ type: 'test:pass', data: { name, file, nesting: 0, details: { duration_ms } } }) as const;
  async function* events() {
    yield passed('a story', '/tests/story.test.ts', 5000);
    yield passed('a first', '/tests/a.test.ts', 10);
    yield passed(`${endOf}/tests/a.test.ts`, '/tests/a.test.ts', 0);
  }
  const groups = [{ entry: '/tests/group.mjs', files: ['/tests/a.test.ts'] }];
  const times: unknown[] = [];
  for await (const { type, data } of perFile(events(), groups))
    if (type === 'test:summary') times.push((data as { readonly duration_ms: number }).duration_ms);
  assert.deepEqual(times, [10]);
});
