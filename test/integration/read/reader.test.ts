import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createReader, type Reader, residentMost } from '../../../functions/read/reader.ts';
import { type GitServer, startGitServer } from '../../support/git/server.ts';
import { specText } from '../../unit/gitops/specs.ts';
import { fleet } from '../../unit/serve/installation.ts';
import { inTime, source } from '../gitops/scene.ts';

let server: GitServer;
before(async () => {
  server = await startGitServer();
});
after(() => server.stop());

const good = { 'a.yaml': specText('a') };

async function repositoryWith(name: string, files: Readonly<Record<string, string>>, at = server) {
  const repository = await at.createRepository(name);
  const sha = await repository.commit(files);
  return { url: repository.url, sha };
}

function read(reader: Reader, { url, sha }: { readonly url: string; readonly sha: string }, signal = inTime(60_000)) {
  const task = { source: source(url), revision: { ref: 'main', sha }, fleet: fleet('production') };
  return reader.read(task, signal);
}

test('what a commit asks for is read in a thread, and comes back whole', async () => {
  using reader = createReader();
  const { specs, files, complete } = await read(reader, await repositoryWith('whole', good));
  assert.deepEqual([specs.map(({ name }) => name), [...files], complete], [['a'], ['a.yaml'], true]);
});

test('while a thread reads, this one is told that it is free', async () => {
  const told: string[] = [];
  using reader = createReader({}, () => told.push('begun'));
  const reading = read(reader, await repositoryWith('free', good)).then(() => told.push('read'));
  assert.deepEqual(told, [], 'nothing is begun yet');
  await reading;
  assert.deepEqual(told, ['begun', 'read']);
});

test('a document that takes too long is refused, and the file is named', async () => {
  // No document takes long enough on every machine: this thread never comes back from its first.
  using reader = createReader({ aloneMs: 200, program: new URL('./stuck-worker.ts', import.meta.url) });
  const hostile = { url: 'http://localhost/slow.git', sha: '' };
  await assert.rejects(read(reader, hostile), { reason: 'TakesTooLong', message: /^z\/bomb.yaml in http/ });
});

test('fleets that a document holds up are read in another thread, and so is its own', async () => {
  using reader = createReader({ stuckMs: 100, aloneMs: 60_000 });
  const hostile = read(reader, await repositoryWith('holding', { 'bomb.yaml': blocking }));
  const others = await Promise.all(['one', 'two'].map((name) => repositoryWith(name, good)));
  for (const { specs } of await Promise.all(others.map((one) => read(reader, one)))) assert.equal(specs.length, 1);
  assert.equal((await hostile).problems.length, 1);
});

/** Many lines of many words: one document, and no pause while it is composed. */
const blocking = `kind: EtcdCluster\nspec: [${'{b},'.repeat(19_000)}]\n`;

test('a document that fills the memory costs its fleet only, and the file is named', async () => {
  using reader = createReader({ heapMiB: 24 });
  const hostile = await repositoryWith('large', { 'bomb.yaml': blocking });
  const refused = assert.rejects(read(reader, hostile), { reason: 'TooLarge', message: /^bomb.yaml in .* 24 MiB/ });
  const { specs } = await read(reader, await repositoryWith('small', good));
  assert.equal(specs.length, 1);
  await refused;
});

test('a thread that fills the memory outside of its heap is ended, and others are read', async () => {
  const residentMiB = process.memoryUsage.rss() / 1024 / 1024 + 150;
  const program = new URL('./holding-worker.ts', import.meta.url);
  using reader = createReader({ residentMiB, program });
  const hostile = read(reader, { url: 'http://localhost/holds.git', sha: '' });
  const refused = assert.rejects(hostile, { reason: 'TooLarge', message: /^z\/bomb.yaml in .* that a pass may hold/ });
  await assert.rejects(read(reader, { url: 'http://localhost/good.git', sha: '' }), { message: 'it was read' });
  await refused;
  await assert.rejects(read(reader, { url: 'http://localhost/next.git', sha: '' }), { message: 'it was read' });
});

test('a pass may hold four fifths of its container', () => {
  assert.equal(residentMost(512 * 1024 ** 2), 409.6);
  for (const unbound of [0, Number.MAX_SAFE_INTEGER]) assert.equal(residentMost(unbound), Number.POSITIVE_INFINITY);
});

test('a fleet whose time is over is told which file it was at, and the next one is read', async () => {
  using reader = createReader();
  const hostile = await repositoryWith('late', { 'bomb.yaml': blocking });
  await assert.rejects(read(reader, hostile, AbortSignal.timeout(1)), { reason: 'Aborted' });
  assert.equal((await read(reader, await repositoryWith('next', good))).specs.length, 1);
});

test('fleets of one repository share what is fetched', async () => {
  await using counted = await startGitServer({ needs: ['asFewRequests'] });
  const repository = await repositoryWith('shared', good, counted);
  using reader = createReader({ stuckMs: 60_000 });
  await Promise.all(Array.from({ length: 5 }, () => read(reader, repository)));
  assert.ok(counted.requests.length <= 2, `${counted.requests.length} requests`);
});

test('nothing is begun once the reader is closed, and what is under way ends', async () => {
  const repository = await repositoryWith('closed', good);
  let reading: Promise<unknown>;
  {
    using reader = createReader();
    reading = assert.rejects(read(reader, repository), { reason: 'Aborted' });
  }
  await reading;
});
