import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { HostileOutput } from '../../bench/hostile-worker.ts';
import { startGitServer } from '../../support/git/server.ts';

const worker = join(import.meta.dirname, '../../bench/hostile-worker.ts');

test('what `bench -- hostile` measures is read: the others, and the hostile one', async () => {
  await using server = await startGitServer();
  const [good, bad] = await Promise.all(['good', 'bad'].map((name) => server.createRepository(name)));
  const spec = 'apiVersion: etcd.ratchet.dev/v1alpha1\nkind: EtcdCluster\nmetadata: {name: a}\n';
  await good?.commit({ 'a.yaml': `${spec}spec: {replicas: 3, version: 3.6.16, storage: {size: 1Gi}}\n` });
  await bad?.commit({ 'a.yaml': `${spec}---\n${spec}` });
  const args = [worker, JSON.stringify([good?.url]), JSON.stringify([bad?.url]), '50000'];
  // As the bench starts it: what this process has set for its children must not be what helps.
  const env = { PATH: process.env.PATH };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 });
  const { specs, said } = JSON.parse(stdout) as HostileOutput;
  assert.equal(specs, 1);
  assert.match(said.join(), /^0 specs, \d problems$/);
});
