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
const many = 10;

test('files of 100 MiB in ten repositories cost a pass no more memory than it has', async (t) => {
  await using server = await startGitServer();
  const good = await server.createRepository('good');
  await good.commit({ 'a.yaml': specText('a') });
  const urls: string[] = [];
  for (let name = 0; name < many; name += 1) {
    const repository = await server.createRepository(`hostile-${name}`);
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
  // Not all of a gigabyte is read within any time; what is not is told, and read by a later pass.
  for (const words of said) assert.match(words, /^1 specs, 1 problems$|time was used up/);
  assert.equal(said.length, many);
  assert.ok(peakMegabytes < mostMegabytes, `${peakMegabytes} MB`);
});
