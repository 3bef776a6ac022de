import assert from 'node:assert/strict';
import { build } from '../../functions/build.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { unitOf } from '../../reconcile/fleet/unit.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { inParallel } from '../../reconcile/stepping/in-parallel.ts';
import { isIn } from '../../reconcile/stepping/shard.ts';
import { until } from '../e2e/support/until.ts';
import type { Kwok } from '../support/cluster/tools.ts';
import { pushUntilConverged, untilConverged } from './converged.ts';
import { enterServiceAccount, fillCompileCache, heapOfPod } from './pod-like.ts';
import type { Stage } from './stage.ts';
import { startStandInMembers } from './stand-ins/members.ts';
import { addVolumes, podTemplate, startStandInNodes, storageClass } from './stand-ins/nodes.ts';
import { addOthers, ensureNamespace, namespaceOf, shards } from './stand-ins/others.ts';
import { aim } from './table.ts';
import { cpu, measureSize, middle, print, type TickFigures } from './ticks.ts';

const counts = { warmUps: 1, times: 5 };
const replicas = 1;
/** Milliseconds, for each hundred that is born. */
const patience = 300_000;

export interface FleetSizes {
  readonly real: number;
  /** With the real ones. */
  readonly all: readonly number[];
  /** With those of other shards. */
  readonly most: number;
}

/**
 * Prints what a tick costs beside many clusters: some are real, and the others have nodes that kwok plays and members
 * that a program stands in for. All objects are real, born by the ticks themselves.
 */
export async function measureFleet(
  stage: Stage,
  { directory, kwok, sizes }: { readonly directory: string; readonly kwok: Kwok; readonly sizes: FleetSizes },
): Promise<void> {
  await build(directory);
  await fillCompileCache(directory);
  const env = await enterServiceAccount(stage.kubectl, directory);
  await using _nodes = await startStandInNodes(stage.cluster, kwok);
  await using _members = await startStandInMembers(stage.kube);
  const { members } = await pushUntilConverged(stage, sizes.real, directory, env);
  const figures: TickFigures[] = [];
  let made = 0;
  for (const clusters of sizes.all) {
    const before = { clusters: made + sizes.real, at: performance.now() };
    await make(stage, made, clusters - sizes.real - made);
    made = clusters - sizes.real;
    const patienceMs = patience * Math.ceil(clusters / 100);
    await untilConverged({ directory, env, options: heapOfPod, patienceMs }, clusters);
    const seconds = (performance.now() - before.at) / 1000;
    console.log(`from ${before.clusters} to ${clusters} clusters in ${seconds.toFixed(0)} s of ticks`);
    await untilNoFollowUp(stage);
    for (const look of ['skipped', 'full'] as const) {
      const size = { look, clusters, members: members + made * replicas, directory, env };
      figures.push(await measureSize(stage, size, counts, heapOfPod));
    }
    print(figures.slice(-2), counts);
  }
  figures.push(...(await measureShare(stage, { directory, env, made, most: sizes.most })));
  print(figures.slice(-2), counts);
  console.log(`\nOf them ${sizes.real} are real. The others have a member each, which a program stands in for;`);
  console.log('what other shards step has none, and an object of the same size.\n');
  printAims(figures);
}

interface Sharing {
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** What the shard steps. */
  readonly made: number;
  readonly most: number;
}

/** Of the shard that has all that was made, beside all that others have. */
async function measureShare(stage: Stage, { directory, env, made, most }: Sharing): Promise<readonly TickFigures[]> {
  const { items } = await stage.kube.list<EtcdCluster>(resources.clusters, {});
  const isOwn = (one: EtcdCluster) => isIn({ ...shard, missing: [] }, unitOf(one));
  const own = items.filter(isOwn);
  const model = own.find(({ metadata }) => metadata.name === `orders-${made - 1}`) ?? assert.fail();
  await addOthers(stage.kube, model, most - items.length);
  console.log(`${most - items.length} of other shards, of ${JSON.stringify(model).length} bytes each`);
  const figures: TickFigures[] = [];
  for (const look of ['skipped', 'full'] as const) {
    const share = { ...shard, clusters: own.length, isOwn };
    const size = { look, clusters: most, members: membersOf(own), directory, env, share };
    figures.push(await measureSize(stage, size, counts, heapOfPod));
  }
  return figures;
}

const shard = { index: 0, of: shards };

function membersOf(clusters: readonly EtcdCluster[]): number {
  return clusters.reduce((sum, { spec }) => sum + spec.replicas, 0);
}

/** Before what they would change under the measured tick. */
async function untilNoFollowUp({ kubectl }: Stage): Promise<void> {
  const active = ['-n', 'etcd-ratchet', 'get', 'jobs', '-o', 'jsonpath={.items[*].status.active}'];
  await until('no follow-up runs', async () => (await kubectl(active)).trim() === '', { within: 180, every: 1_000 });
}

async function make({ kube, kubectl }: Stage, first: number, count: number): Promise<void> {
  await addVolumes(kubectl, first * replicas, count * replicas);
  const numbers = [...Array(count).keys()].map((n) => first + n);
  for (const namespace of new Set(numbers.map((number) => namespaceOf(number, true))))
    await ensureNamespace(kube, namespace);
  await inParallel(numbers, 8, (n) => kube.create<EtcdCluster>(resources.clusters, standIn(n)));
}

function standIn(number: number): EtcdCluster {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: `orders-${number}`, namespace: namespaceOf(number, true) },
    spec: { replicas, version: '3.6.16', storage: { size: '1Gi', storageClassName: storageClass }, podTemplate },
  };
}

const goal = { clusters: 100, cpuSeconds: 1 };

function printAims(figures: readonly TickFigures[]): void {
  for (const { look, runs } of figures.filter(({ clusters, share }) => clusters === goal.clusters && !share)) {
    const isMet = middle(runs, cpu) / 1000 <= goal.cpuSeconds;
    console.log(
      aim(
        `a tick of ${look} looks at ${goal.clusters} clusters: at most ${goal.cpuSeconds} s of processor time`,
        isMet,
      ),
    );
  }
}
