import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { build } from '../../../functions/build.ts';
import { type Entry, entryOf, oldestNode } from '../../../functions/entry.ts';

/** The built command line, on Nodes that are too old for it: a gate in CI must never pass because nothing ran. */

let checkout = '';
before(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'entry-'));
  await build(join(checkout, 'dist'));
});
after(() => rm(checkout, { recursive: true }));

interface Run {
  readonly node?: string;
  /** What the process is made to believe that its Node is. */
  readonly pretend?: string;
}

function run(entry: Entry, args: readonly string[], { node = process.execPath, pretend }: Run = {}) {
  const versions = `{ ...process.versions, node: '${pretend}' }`;
  const script = `Object.defineProperty(process, 'versions', { value: ${versions} });
    Object.defineProperty(process, 'version', { value: 'v${pretend}' });`;
  const before = pretend === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
  const env = { PATH: process.env.PATH ?? '' };
  const done = spawnSync(node, [...before, join(checkout, 'dist', `${entry}.js`), ...args], { env, encoding: 'utf8' });
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

/** A Node of this machine that is older than we need, if there is one. */
function olderNode(): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'node'));
  return candidates.find((path) => {
    if (!existsSync(path)) return false;
    return Number(/^v(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }))?.[1]) < oldestNode;
  });
}

test('the built commands run', async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  assert.deepEqual(run('tick', ['--version']), { code: 0, stdout: `${version}\n`, stderr: '' });
  assert.equal(run('tick', ['--nonsense']).code, 2);
  assert.match(run('serve', []).stderr, /nothing is enabled/);
  assert.equal(run('serve', []).code, 2);
  assert.match(run('set-aside', []).stderr, /usage: set-aside/);
  assert.equal(run('set-aside', []).code, 1);
  assert.match(run('read-log', []).stderr, /usage: read-log/);
  assert.match(run('backup', []).stdout, /"reason":"InvalidRequest"/);
  assert.equal(run('backup', []).code, 2);
});

test('a process ends when its work is done, whatever is left open, and all that it wrote arrives', async () => {
  const length = 3_000_000;
  await writeFile(
    join(checkout, 'lingers.js'),
    `export async function main() {
      setInterval(() => {}, 1000);
      process.stdout.write('o'.repeat(${length}));
      process.stderr.write('e'.repeat(${length}));
      return 3;
    }`,
  );
  const program = join(checkout, 'lingering.mjs');
  await writeFile(program, entryOf('tick', './lingers.js'));
  const done = spawnSync(process.execPath, [program], { encoding: 'utf8', timeout: 20_000, maxBuffer: 2 * length });
  assert.deepEqual([done.status, done.signal], [3, null]);
  assert.equal(done.stdout, 'o'.repeat(length));
  assert.equal(done.stderr, 'e'.repeat(length));
});

for (const pretend of ['18.20.8', '20.20.2', '22.21.1', '23.11.1']) {
  test(`on Node ${pretend} the built commands say in one sentence what they need, and fail`, () => {
    for (const entry of ['tick', 'serve', 'set-aside', 'backup'] as const) {
      const { code, stdout, stderr } = run(entry, ['--version'], { pretend });
      assert.deepEqual([code, stdout], [1, '']);
      assert.equal(
        stderr,
        `etcd-ratchet needs Node ${oldestNode} or later, and this is v${pretend}. Install it, or run "npm ci" in the checkout, which brings one.\n`,
      );
    }
  });
}

test('a Node of this machine that is too old refuses, and hands over to that of the checkout', async () => {
  // Where the machine has none, this one pretends.
  const node = olderNode();
  const old: Run = node === undefined ? { pretend: '20.20.2' } : { node };
  const refused = run('tick', ['--version'], old);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /^etcd-ratchet needs Node 24 or later, and this is v\d+/);

  await mkdir(join(checkout, 'node_modules/.bin'), { recursive: true });
  await symlink(process.execPath, join(checkout, 'node_modules/.bin/node'));
  assert.equal(run('tick', ['--version'], old).code, 0);
  assert.match(run('tick', ['--version'], old).stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(run('tick', ['--nonsense'], old).code, 2);
});
