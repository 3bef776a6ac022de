import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { HostileOutput } from '../../bench/hostile-worker.ts';
import { startGitServer } from '../../support/git/server.ts';
import { specText } from '../../unit/gitops/specs.ts';

const worker = join(import.meta.dirname, '../../bench/hostile-worker.ts');

/** Of the 512 that a tick's container has. */
const mostMegabytes = 300;

test('files of 100 MiB in two repositories cost a pass no more memory than it has', async (t) => {
  await using server = await startGitServer();
  const good = await server.createRepository('good');
  await good.commit({ 'a.yaml': specText('a') });
  const urls: string[] = [];
  for (const name of ['one', 'two']) {
    const repository = await server.createRepository(name);
    const zeros = '\0'.repeat(100 * 1024 * 1024);
    await repository.commit({ 'a.yaml': specText('a'), 'dump.yaml': `${zeros}${name}` });
    urls.push(repository.url);
  }
  const args = [worker, JSON.stringify([good.url]), JSON.stringify(urls), '50000'];
  const env = { PATH: process.env.PATH };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 120_000 });
  const { specs, said, peakMegabytes, othersMs } = JSON.parse(stdout) as HostileOutput;
  t.diagnostic(`peak ${peakMegabytes.toFixed(0)} MB, others read in ${othersMs.toFixed(0)} ms`);
  assert.equal(specs, 1);
  assert.deepEqual(said, Array(2).fill('1 specs, 1 problems'));
  assert.ok(peakMegabytes < mostMegabytes, `${peakMegabytes} MB`);
});
