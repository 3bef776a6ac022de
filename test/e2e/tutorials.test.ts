import assert from 'node:assert/strict';
import { mkdtemp, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { startGround } from '../demo/ground.ts';
import { environmentFile } from '../demo/stay.ts';
import { blocksOf } from '../support/docs/blocks.ts';
import { tutorials } from '../support/docs/pages.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { localSettings } from '../support/network.ts';
import { inOwnSandbox } from './support/own-cluster.ts';
import { asOf } from './support/runbooks/typing.ts';
import { follow } from './support/tutorial.ts';

const binaries = await inOwnSandbox();
const ground = await startGround(binaries);
const directory = await mkdtemp(join(tmpdir(), 'tutorials-'));
after(() => ground[Symbol.asyncDispose]());

test('the tutorials lead from nothing through a restore and a lost quorum', { timeout: 1_800_000 }, async () => {
  await ground.install();
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

/** The reader's cluster is `orders-restored` by now, and its fleet reads what was pushed last. */
const names = {
  'etcd.payments.example.com': 'orders-restored.payments.svc',
  'orders-client-tls': 'orders-restored-client-tls',
  'cluster=orders': 'cluster=orders-restored',
  'payments/orders': 'payments/orders-restored',
  'why orders': 'why orders-restored',
  'defrag orders': 'defrag orders-restored',
  '--check 17': '--check "$(git -C etcd rev-parse HEAD)"',
};

test('what pages look at and ask of a cluster that runs is typed on the same playground', {
  timeout: 600_000,
}, async () => {
  await symlink(resolve(import.meta.dirname, '../../dist'), join(directory, 'dist'));
  const typed = typedIn('e2e/tutorials');
  const places = [
    'docs/explanation/the-seal.md#how-it-works',
    'docs/how-to/backups.md',
    'docs/how-to/kubectl-plugin.md#use-it',
    'docs/how-to/plans.md',
    'docs/how-to/plans.md#by-hand',
    'docs/how-to/pull-requests.md',
    'docs/how-to/space.md#ask-for-it',
    'docs/how-to/external-clients.md#try-it',
  ].flatMap(typed);
  const start = { page: 'the environment', line: 1, kind: 'sh', text: `. ${join(directory, 'env')}\n` };
  await follow([start, ...asOf(names, places)], { cwd: directory, env: { ...process.env, ...localSettings } });
});
