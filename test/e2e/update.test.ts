import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod, StatefulSet } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import type { Kubectl } from '../support/cluster/kubectl.ts';
import { checkout } from '../support/cluster/own-image.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { kubeconfigOfAccount } from './support/account-kubeconfig.ts';
import { isReady } from './support/conditions.ts';
import { earlier, layOutEarlier } from './support/earlier.ts';
import { longestGapAllowed } from './support/gaps.ts';
import { never, ticksAt } from './support/installed.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { asOf, type } from './support/runbooks/typing.ts';
import { openScene, type Scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { assertMade, tick } from './support/tick.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const binaries = await inOwnSandbox();
const blocksAt = typedIn('e2e/update');

/** What runs, by what a restart or another template would change. */
async function members({ kube, namespace }: Scene): Promise<unknown> {
  const of = async (place: string) => {
    const { items: pods } = await kube.list<Pod>(resources.pods, { namespace: place });
    const { items: sets } = await kube.list<StatefulSet>(resources.statefulSets, { namespace: place });
    return [
      ...pods.map(({ metadata, status }) => [
        metadata.name,
        metadata.uid,
        status?.containerStatuses?.map(({ restartCount }) => restartCount),
      ]),
      ...sets.map(({ metadata }) => [metadata.name, metadata.uid, metadata.generation]),
    ];
  };
  return [await of(namespace), await of(platform)];
}

/** A namespace in which the update refuses what no label lets in. */
const platform = 'kube-system';

/** All that there is to install but its schedule: the story ticks itself, as the account of the installation. */
async function kustomization(directory: string, manifests: string): Promise<string> {
  await mkdir(directory);
  const at = (path: string) => relative(directory, join(manifests, path));
  const content = {
    resources: [at('')],
    components: [at('components/node-reboots')],
    patches: [ticksAt(never)],
  };
  await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(content));
  return directory;
}

const apply = (kubectl: Kubectl, directory: string) => kubectl(['apply', '--server-side', '-k', directory]);

test(`an update from ${earlier.title}, and back, restarts no member and loses no write`, async (t) => {
  await using closing = new AsyncDisposableStack();
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'earlier-')));
  closing.defer(() => rm(directory, { recursive: true }));
  const old = await layOutEarlier(directory);
  const [before, now] = await Promise.all([
    kustomization(join(directory, 'before'), old.manifests),
    kustomization(join(directory, 'now'), join(checkout, 'manifests/install')),
  ]);
  await using cluster = await startOwnCluster({ binaries }, async (kubectl) => {
    await apply(kubectl, before);
    await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
  });
  const { kubectl } = cluster;
  const KUBECONFIG = await kubeconfigOfAccount(cluster);
  const stage = await openScene({ fleet: false });
  await using closingStage = new AsyncDisposableStack();
  closingStage.defer(() => stage.close());
  const oldTick = async () => assertMade([], await old.tick(KUBECONFIG));
  const newTick = async () => assertMade([], await tick({ env: { KUBECONFIG } }));
  const ready = async () => {
    const { items } = await stage.kube.list<EtcdCluster>(resources.clusters, { signal: AbortSignal.timeout(10_000) });
    return items.every(isReady);
  };
  const readyOnce = async (look: () => Promise<unknown>) => {
    if (await ready()) return true;
    await look();
    return await ready();
  };

  for (const yaml of [
    clusterYaml('orders', stage.namespace, { replicas: 3 }),
    clusterYaml('events', platform, { replicas: 1 }),
  ])
    await kubectl(['apply', '--server-side', '-f', '-'], { stdin: yaml });
  await until(
    'both are Ready',
    async () => {
      await oldTick();
      return await ready();
    },
    { within: 150, last: () => 'they are not' },
  );
  const writer = startWriter(await stage.access('orders'), 'update');
  const running = await members(stage);

  const typed = (place: string) => type(stage, 'orders', {}, asOf({ payments: stage.namespace }, blocksAt(place)));
  await typed('docs/releases/v0.1.0.md#update-an-earlier-build:1');
  await apply(kubectl, now);
  for (let look = 0; look < 3; look++) await newTick();
  // On a busy machine a member may answer one look too late.
  await until('both are Ready as the new release sees it', () => readyOnce(newTick));
  assert.deepEqual(await members(stage), running, 'the new release changes no member');

  await typed('docs/releases/v0.1.0.md#update-an-earlier-build:2');
  await apply(kubectl, before);
  for (let look = 0; look < 2; look++) await oldTick();
  await until('both are Ready as the old release sees it', () => readyOnce(oldTick));
  assert.deepEqual(await members(stage), running, 'nor does the old one');

  const { acknowledged, lost, longestGap } = await writer.finish();
  t.diagnostic(`${acknowledged} writes, ${lost.length} lost, longest gap ${longestGap.toFixed(0)} ms`);
  assert.ok(acknowledged > 20);
  assert.deepEqual(lost, []);
  assert.ok(longestGap < longestGapAllowed, `${longestGap} ms without a write`);
});
