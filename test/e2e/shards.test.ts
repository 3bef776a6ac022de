import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { shardLabel } from '../../functions/pass/follow-up/chain.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Job } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isOver } from '../../reconcile/jobs/job-end.ts';
import { isIn } from '../../reconcile/stepping/shard.ts';
import { cluster } from '../integration/manifests/tenants-objects.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { isReady } from './support/conditions.ts';
import { startInstallation } from './support/neighbours/installation.ts';
import { inOwnSandbox } from './support/own-cluster.ts';
import { until } from './support/until.ts';

/** One installation whose passes are shared out among the pods of one Job, and clusters of each of them. */
const binaries = await inOwnSandbox();
const installation = await startInstallation(binaries);
after(() => installation[Symbol.asyncDispose]());
const { kube, kubectl, tick } = installation;

const home = 'etcd-ratchet';
const of = 3;
/** The one that fails. */
const ailing = 1;
/** Seconds: many times what it takes on a quiet machine. */
const within = 150;

/** One for each shard, in their order. */
const namespaces = Array.from({ length: of }, (_, index) => {
  const mine = (name: string) => isIn({ index, of, missing: [] }, `namespace ${name}`);
  return Array.from({ length: 99 }, (_, n) => `team-${n}`).find(mine) ?? assert.fail();
});

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

const template = '/spec/jobTemplate/spec';

async function patch(...operations: readonly Operation[]): Promise<void> {
  await kubectl(['-n', home, 'patch', 'cronjob', home, '--type=json', '-p', JSON.stringify(operations)]);
}

/** As the component does. */
async function shareOut(): Promise<void> {
  const file = join(import.meta.dirname, '../../manifests/install/components/shards/kustomization.yaml');
  const { patches } = parse(await readFile(file, 'utf8')) as {
    readonly patches: readonly { readonly patch: string }[];
  };
  await patch(...patches.flatMap((one) => parse(one.patch) as readonly Operation[]));
  await among(of);
}

async function among(count: number): Promise<void> {
  await patch({ op: 'replace', path: `${template}/completions`, value: count });
}

/** That pod of each pass ends as one does that can't be started. */
async function letFail(index: number | undefined): Promise<void> {
  const ends = `data:text/javascript,if(process.env.JOB_COMPLETION_INDEX==='${index}')process.exit(1)`;
  const value = ['node', ...(index === undefined ? [] : ['--import', ends]), '/app/tick.js'];
  await patch({ op: 'replace', path: `${template}/template/spec/containers/0/command`, value });
}

async function bear(name: string, where: readonly string[]): Promise<void> {
  for (const namespace of where) await kube.create(resources.clusters, cluster(namespace, name, { replicas: 1 }));
}

async function areReady(name: string, where: readonly string[]): Promise<void> {
  let last = '';
  const look = async () => {
    const all = await Promise.all(where.map((one) => kube.get<EtcdCluster>(resources.clusters, one, name)));
    last = all.map((one) => `${one?.metadata.namespace}: ${one?.status?.lastDecision?.reason}`).join(', ');
    return all.every((one) => one !== undefined && isReady(one));
  };
  await until(`${name} of ${where.join(', ')} is Ready`, look, { within, last: () => last });
}

async function jobs(): Promise<readonly (Job & { readonly spec?: { readonly completionMode?: string } })[]> {
  return (await kube.list<Job>(resources.jobs, { namespace: home })).items;
}

async function passIsOver(name: string): Promise<string | undefined> {
  return until(
    `${name} is over`,
    async () => {
      const found = (await jobs()).find(({ metadata }) => metadata.name === name);
      const { completedIndexes } = (found?.status ?? {}) as { readonly completedIndexes?: string };
      return found && isOver(found) && { completedIndexes };
    },
    { within },
  ).then(({ completedIndexes }) => completedIndexes);
}

test('the shards of one pass bear a cluster each, and go on by chains of their own', async () => {
  await shareOut();
  for (const namespace of namespaces) await installation.addTenant(namespace);
  await bear('orders', namespaces);
  await tick();
  await areReady('orders', namespaces);
  assert.equal(await passIsOver('tick-1'), '0-2');
  const links = (await jobs()).filter(({ metadata }) => metadata.labels?.['etcd.ratchet.dev/follow-up']);
  assert.deepEqual([...new Set(links.map(({ metadata }) => metadata.labels?.[shardLabel]))].toSorted(), [
    ...['0-of-3', '1-of-3', '2-of-3'],
  ]);
  assert.ok(links.every(({ spec }) => spec?.completionMode !== 'Indexed'));
});

test('what a failing shard leaves is taken by the others after two passes, until it is back', async () => {
  await letFail(ailing);
  const [namespace = ''] = namespaces.slice(ailing);
  for (const name of ['tick-2', 'tick-3']) {
    await tick();
    assert.equal(await passIsOver(name), '0,2', 'it delays no other');
  }
  const [shown = ''] = typedIn('e2e/shards')('docs/how-to/shards.md#when-one-fails').map(({ text }) => text);
  const table = await kubectl(shown.trim().split(' ').slice(1));
  assert.match(table, /^tick-3 +0,2 +1$/m);
  await bear('late', [namespace]);
  await tick();
  await areReady('late', [namespace]);
  await letFail(undefined);
  await tick();
  assert.equal(await passIsOver('tick-5'), '0-2');
});

test('one value shares passes out among fewer, and among one, with work under way', async () => {
  await bear('more', namespaces);
  await tick();
  await among(2);
  await tick();
  await areReady('more', namespaces);
  await among(1);
  await bear('last', namespaces);
  await tick();
  await areReady('last', namespaces);
});
