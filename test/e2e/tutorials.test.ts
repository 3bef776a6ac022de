import assert from 'node:assert/strict';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startGround } from '../demo/ground.ts';
import { environmentFile } from '../demo/stay.ts';
import { blocksOf } from '../support/docs/blocks.ts';
import { tutorials } from '../support/docs/pages.ts';
import { inOwnSandbox } from './support/own-cluster.ts';
import { follow } from './support/tutorial.ts';

const binaries = await inOwnSandbox();
const ground = await startGround(binaries);
after(() => ground[Symbol.asyncDispose]());

test('the tutorials lead from nothing through a restore and a lost quorum', { timeout: 1_800_000 }, async () => {
  await ground.install();
  const directory = await mkdtemp(join(tmpdir(), 'tutorials-'));
  const { kubeconfigPath } = ground.cluster;
  const environment = await environmentFile(directory, binaries, {
    KUBECONFIG: kubeconfigPath,
    GIT_URL: ground.forge.gitUrl.replace('http://', `http://ada:${ground.forge.token}@`),
    FORGE_URL: `${ground.forge.apiUrl}/repos/platform/etcd`,
    FORGE_TOKEN: ground.forge.token,
  });
  const written = await Promise.all(
    tutorials.map(async (page) => blocksOf(page, await readFile(join(import.meta.dirname, '../..', page), 'utf8'))),
  );
  // The ground stands already; of what the reader starts, this is what comes of it.
  const [start, ...typed] = written.flat();
  assert.equal(start?.text, 'npm ci && npm run playground\n');
  await follow([{ ...start, text: `. ${environment}\n` }, ...typed], { cwd: directory, env: process.env });
});
