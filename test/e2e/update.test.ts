import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Pod, StatefulSet } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { checkout } from '../support/cluster/own-image.ts';
import { isReady } from './support/conditions.ts';
import { earlier, layOutEarlier } from './support/earlier.ts';
import { longestGapAllowed } from './support/gaps.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { openScene, type Scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { assertMade } from './support/tick.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const binaries = await inOwnSandbox();

/** What runs, by what a restart or another template would change. */
async function members({ list }: Scene): Promise<unknown> {
  const pods = await list<Pod>(resources.pods);
  const sets = await list<StatefulSet>(resources.statefulSets);
  return [
    ...pods.map(({ metadata, status }) => [
      metadata.name,
      metadata.uid,
      status?.containerStatuses?.map(({ restartCount }) => restartCount),
    ]),
    ...sets.map(({ metadata }) => [metadata.name, metadata.uid, metadata.generation]),
  ];
}

test(`an update from ${earlier.title}, and back, restarts no member and loses no write`, async (t) => {
  await using cluster = await startOwnCluster({ binaries });
  const stage = await openScene({ fleet: false });
  await using closing = new AsyncDisposableStack();
  closing.defer(() => stage.close());
  const directory = await mkdtemp(join(tmpdir(), 'earlier-'));
  closing.defer(() => rm(directory, { recursive: true }));
  const old = await layOutEarlier(directory, cluster.kubeconfigPath);
  const { namespace, kubectl, coldTick } = stage;
  const applyCrds = (from: string) => kubectl(['apply', '--server-side', '--force-conflicts', '-k', from]);
  const oldTick = async () => assertMade([], await old.tick('--namespace', namespace));
  const ready = async () => isReady(await stage.cluster('orders'));
  const readyOnce = async (look: () => Promise<unknown>) => {
    if (await ready()) return true;
    await look();
    return await ready();
  };

  await applyCrds(old.crds);
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('orders', namespace, { replicas: 3 }) });
  await until(
    'orders is Ready',
    async () => {
      await oldTick();
      return await ready();
    },
    { within: 150, last: () => 'it is not' },
  );
  const writer = startWriter(await stage.access('orders'), 'update');
  const before = await members(stage);

  await applyCrds(join(checkout, 'manifests/install/crds'));
  for (let look = 0; look < 3; look++) await coldTick();
  // On a busy machine a member may answer one look too late.
  await until('it is Ready as the new release sees it', () => readyOnce(coldTick));
  assert.deepEqual(await members(stage), before, 'the new release changes no member');

  await applyCrds(old.crds);
  for (let look = 0; look < 2; look++) await oldTick();
  await until('it is Ready as the old release sees it', () => readyOnce(oldTick));
  assert.deepEqual(await members(stage), before, 'nor does the old one');

  const { acknowledged, lost, longestGap } = await writer.finish();
  t.diagnostic(`${acknowledged} writes, ${lost.length} lost, longest gap ${longestGap.toFixed(0)} ms`);
  assert.ok(acknowledged > 20);
  assert.deepEqual(lost, []);
  assert.ok(longestGap < longestGapAllowed, `${longestGap} ms without a write`);
});
