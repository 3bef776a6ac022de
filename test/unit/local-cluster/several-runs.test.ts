import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { cachePath } from '../../support/cluster/binaries/cache.ts';
import { etcd } from '../../support/cluster/binaries/catalogue.ts';
import { showProgress } from '../../support/cluster/binaries/progress.ts';
import { provide } from '../../support/cluster/binaries/provide.ts';
import { bareMachine, fakeGo, type Machine } from './fake-tools.ts';

const wanted = etcd('etcd', '3.6.16');
const runner = join(import.meta.dirname, 'provide-in-process.ts');

test('three runs at once build once, and all get the same file', async () => {
  await using machine = await bareMachine();
  // The build ends only when the two others wait for it, so that all three really meet.
  const waiting = join(machine.directory, 'waiting');
  await machine.script('bin/go', fakeGo(machine, `${untilShell(`[ -e ${waiting} ]`)}`));
  const runs = [1, 2, 3].map(() => start(machine));
  await until(
    'two that wait',
    () => runs.filter(({ stderr }) => stderr().includes('is being made by another run')).length === 2,
  );
  await writeMarker(machine, waiting);
  const outputs = await Promise.all(runs.map(({ output }) => output));

  assert.deepEqual(new Set(outputs), new Set([`${cachePath(machine.cache, wanted)}\n`]));
  assert.equal((await builds(machine)).length, 1);
});

test('a run that was killed while it built leaves no half-made file, and the next one builds', async () => {
  await using machine = await bareMachine();
  const gate = join(machine.directory, 'gate');
  await machine.script('bin/go', fakeGo(machine, `${untilShell(`[ -e ${gate} ]`)}`));
  const killed = start(machine);
  await until('the build', () => existsSync(join(machine.directory, 'builds')));
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  assert.equal(existsSync(cachePath(machine.cache, wanted)), false);
  // Its compiler lives on, as a real one would, and may write when the next one does.

  const next = start(machine);
  await until('the second build', async () => (await builds(machine)).length === 2);
  await writeMarker(machine, gate);
  assert.equal(await next.output, `${cachePath(machine.cache, wanted)}\n`);
  assert.deepEqual((await readdir(machine.cache)).toSorted(), [cachePath('', wanted).split('/').at(-1), 'locks']);
});

test('an interrupted build stops its compiler, says so, and leaves nothing', async () => {
  await using machine = await bareMachine();
  await machine.script('bin/go', `[ "$1" = list ] && exit; echo $$ > ${machine.directory}/builds; exec sleep 60`);
  const interrupt = new AbortController();
  const providing = provide([wanted], {
    environment: machine.environment,
    downloads: false,
    progress: showProgress({ write: () => true }),
    signal: interrupt.signal,
  });
  await until(
    'one build',
    async () => existsSync(join(machine.directory, 'builds')) && (await builds(machine)).length === 1,
  );
  const [compiler] = await builds(machine);
  interrupt.abort();

  await assert.rejects(providing, /building etcd 3\.6\.16 was interrupted: start it again/);
  assert.equal(existsSync(`/proc/${compiler}`), false);
  assert.deepEqual(await readdir(machine.cache), ['locks']);
});

interface Run {
  readonly child: ChildProcess;
  stderr(): string;
  readonly output: Promise<string>;
}

function start(machine: Machine): Run {
  const child = spawn(process.execPath, [runner], { env: machine.environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const output = once(child, 'close').then(() => stdout);
  return { child, stderr: () => stderr, output };
}

async function builds(machine: Machine): Promise<string[]> {
  const text = await readFile(join(machine.directory, 'builds'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

async function writeMarker(machine: Machine, path: string): Promise<void> {
  await machine.script(path.slice(machine.directory.length + 1), '');
}

/** At most 30 s, should the test end without letting it through. */
function untilShell(condition: string): string {
  return `i=0; until ${condition} || [ $i -ge 600 ]; do i=$((i+1)); sleep 0.05; done`;
}
