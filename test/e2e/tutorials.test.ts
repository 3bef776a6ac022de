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
  const first = { page: 'the playground', line: 1, kind: 'sh', text: `. ${environment}\n` } as const;
  await follow([first, ...written.flat()], { cwd: directory, env: process.env });
});
