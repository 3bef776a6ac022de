import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { build } from '../../../functions/build.ts';

const run = promisify(execFile);
let app: string;

before(async () => {
  app = await mkdtemp(join(tmpdir(), 'etcd-ratchet-bundle-'));
  await build(app);
});
after(() => rm(app, { recursive: true, force: true }));

test('every chunk loads by itself, also those that are only imported lazily', async () => {
  const chunks = globSync('chunks/*.js', { cwd: app });
  assert.ok(chunks.length > 5);
  const script = `for (const chunk of ${JSON.stringify(chunks)}) await import(${JSON.stringify(app)} + '/' + chunk);`;
  await run(process.execPath, ['--input-type=module', '-e', script], { timeout: 60_000 });
});

test('the entry point starts without the checkout, and tells its usage', async () => {
  const { stdout } = await run(process.execPath, [join(app, 'tick.js'), '--help'], { cwd: app, timeout: 60_000 });
  assert.match(stdout, /--detailed-exitcode/);
});

test('the server is in it, and enabled for nothing says how to enable it', async () => {
  await assert.rejects(run(process.execPath, [join(app, 'serve.js')], { timeout: 60_000 }), (error) => {
    const { code, stderr } = error as { readonly code?: number; readonly stderr?: string };
    assert.equal(code, 2);
    assert.match(String(stderr), /set RATCHET_\w+.* to Enabled/);
    return true;
  });
});

test('a tick loads nothing of the server', async () => {
  const entry = await readFile(join(app, 'tick.js'), 'utf8');
  for (const name of ['serve', 'events', 'webhooks', 'cloud-events']) {
    assert.doesNotMatch(entry, new RegExp(`from ?"./chunks/${name}-`));
  }
});

test('wrong usage is exit code 2, also bundled', async () => {
  await assert.rejects(run(process.execPath, [join(app, 'tick.js'), '--no-such-option'], { timeout: 60_000 }), {
    code: 2,
  });
});

test('it is the same wherever it is made', async () => {
  const other = await mkdtemp(join(tmpdir(), 'etcd-ratchet bundle-'));
  try {
    await build(join(other, 'deeper'));
    await run('diff', ['-r', app, join(other, 'deeper')], { timeout: 60_000 });
  } finally {
    await rm(other, { recursive: true, force: true });
  }
});

/** A chunk and all that it imports at once, by name, with their texts. */
async function loadedFrom(name: string, loaded = new Map<string, string>()): Promise<ReadonlyMap<string, string>> {
  if (loaded.has(name)) return loaded;
  const text = await readFile(join(app, 'chunks', name), 'utf8');
  loaded.set(name, text);
  for (const [, next = ''] of text.matchAll(/(?:from|import) ?['"]\.\/([\w-]+\.js)['"]/g))
    await loadedFrom(next, loaded);
  return loaded;
}

test('a program that looks at a disk loads little of it', async () => {
  const bytes = [...(await loadedFrom('look.js')).values()].join('').length;
  assert.ok(bytes < 10_000, `${bytes} bytes`);
});

test('what every tick loads, and a full look, is in few files', async () => {
  const loaded = new Map(await loadedFrom('tick.js'));
  assert.ok(loaded.has('every-tick.js') && loaded.size <= 20, [...loaded.keys()].join(', '));
  const [full = ''] = globSync('full-look-????????.js', { cwd: join(app, 'chunks') });
  await loadedFrom(full, loaded);
  assert.ok(loaded.has('full-look.js') && loaded.size <= 30, [...loaded.keys()].join(', '));
});

test('what a no-op tick does not need is in chunks of its own', async () => {
  const entry = await readFile(join(app, 'tick.js'), 'utf8');
  for (const name of ['isomorphic-git', 'parse', 'worker-queues', 'send', 'measures']) {
    assert.equal(globSync(`chunks/${name}-*.js`, { cwd: app }).length, 1, name);
    assert.doesNotMatch(entry, new RegExp(`from ?"./chunks/${name}-`));
  }
});

test('the thread that reads repositories starts from the bundle', async () => {
  const worker = new Worker(join(app, 'chunks/read-worker.js'), { workerData: new SharedArrayBuffer(4096) });
  try {
    const [said] = await once(worker, 'message', { signal: AbortSignal.timeout(60_000) });
    assert.deepEqual(said, { kind: 'ready' });
    const chunks = await Promise.all(globSync(join(app, 'chunks/*.js')).map((chunk) => readFile(chunk, 'utf8')));
    assert.ok(
      chunks.some((chunk) => chunk.includes('./read-worker.js')),
      'which is where the reader looks for it',
    );
  } finally {
    await worker.terminate();
  }
});

test('of client-node there is what a kubeconfig takes, and neither its classes nor its fetch', async () => {
  const config = await readFile(globSync(join(app, 'chunks/config-*.js'))[0] ?? '', 'utf8');
  assert.ok(config.length < 400_000, `${config.length} bytes`);
  assert.ok(config.includes('left_out'));
});

test('the agent of backups loads the client of a store only where it is used', async () => {
  const entry = await readFile(join(app, 'chunks/backup.js'), 'utf8');
  for (const name of ['s3', 'gcs', 'azure', 'directory', 'age']) {
    assert.equal(globSync(`chunks/${name}-*.js`, { cwd: app }).length, 1, name);
    assert.doesNotMatch(entry, new RegExp(`from ?"./${name}-`));
  }
});
