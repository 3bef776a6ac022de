import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { unitOf } from '../../reconcile/fleet/unit.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { indexFor, isIn } from '../../reconcile/stepping/shard.ts';
import { until } from '../e2e/support/until.ts';
import type { Kwok } from '../support/cluster/tools.ts';
import { pushUntilConverged, untilConverged } from './converged.ts';
import { measureLevels, pushTroubled, troubledClusters, troubledMembers } from './levels.ts';
import { heapOfPod } from './pod-like.ts';
import type { Stage } from './stage.ts';
import { addStandIns } from './stand-ins/clusters.ts';
import { addOthers, namespaceOf, shards } from './stand-ins/others.ts';
import { startStandIns } from './stand-ins/pods.ts';
import { aim } from './table.ts';
import { cpu, measureSize, middle, peak, print, type Share, type TickFigures } from './ticks.ts';

const counts = { warmUps: 1, times: 5 };
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
  await using playing = await startStandIns(stage, directory, kwok);
  const { env } = playing;
  const index = await indexOfFleet(stage);
  const plain = await pushUntilConverged(stage, sizes.real - troubledClusters, directory, env);
  const members = plain.members + troubledMembers;
  await pushTroubled(stage, 5_000);
  await untilConverged({ directory, env }, sizes.real);
  const figures: TickFigures[] = [];
  const ticking = { directory, env, options: heapOfPod };
  const standIns = namespaceOf(0, { index, isOwn: true });
  let made = 0;
  for (const clusters of sizes.all) {
    const before = { clusters: made + sizes.real, at: performance.now() };
    await addStandIns(stage, {
      first: made,
      count: clusters - sizes.real - made,
      namespaceOf: (n) => namespaceOf(n, { index, isOwn: true }),
    });
    made = clusters - sizes.real;
    const patienceMs = patience * Math.ceil(clusters / 100);
    await untilConverged({ ...ticking, patienceMs }, clusters);
    const seconds = (performance.now() - before.at) / 1000;
    console.log(`from ${before.clusters} to ${clusters} clusters in ${seconds.toFixed(0)} s of ticks`);
    await untilNoFollowUp(stage);
    for (const look of ['skipped', 'full'] as const) {
      const size = { look, clusters, members: members + made, directory, env };
      figures.push(await measureSize(stage, size, counts, heapOfPod));
    }
    print(figures.slice(-2), counts);
    await measureLevels(stage, { ...ticking, clusters, standIns, number: clusters });
  }
  const isOwn = (one: EtcdCluster) => isIn({ index, of: shards, missing: [] }, unitOf(one));
  const share = { index, of: shards, clusters: made + sizes.real, isOwn };
  figures.push(...(await measureShare(stage, { directory, env, made, most: sizes.most, share })));
  print(figures.slice(-2), counts);
  await untilNoFollowUp(stage);
  await measureLevels(stage, { ...ticking, share, clusters: share.clusters, standIns, number: sizes.most });
  console.log(`\nOf them ${sizes.real} are real. The others have a member each, which a program stands in for;`);
  console.log('what other shards step has none, and an object of the same size.\n');
  printAims(figures);
  printModel(figures, sizes.most);
}

/** Of the shard that has the fleet; all that is born is of its share. */
async function indexOfFleet({ kube }: Stage): Promise<number> {
  const fleet = await kube.get<EtcdFleet>(resources.fleets, 'etcd-ratchet', 'production');
  return indexFor(fleet?.metadata.uid ?? assert.fail(), shards);
}

interface Sharing {
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** What the shard steps. */
  readonly made: number;
  readonly most: number;
  readonly share: Share;
}

/** Of the shard that has all that was made, beside all that others have. */
async function measureShare(
  stage: Stage,
  { directory, env, made, most, share }: Sharing,
): Promise<readonly TickFigures[]> {
  const { items } = await stage.kube.list<EtcdCluster>(resources.clusters, {});
  const own = items.filter(share.isOwn);
  const model = own.find(({ metadata }) => metadata.name === `orders-${made - 1}`) ?? assert.fail();
  await addOthers(stage.kube, { model, count: most - items.length, index: share.index });
  console.log(`${most - items.length} of other shards, of ${JSON.stringify(model).length} bytes each`);
  const figures: TickFigures[] = [];
  for (const look of ['skipped', 'full'] as const) {
    const size = { look, clusters: most, members: membersOf(own), directory, env, share };
    figures.push(await measureSize(stage, size, counts, heapOfPod));
  }
  return figures;
}

function membersOf(clusters: readonly EtcdCluster[]): number {
  return clusters.reduce((sum, { spec }) => sum + spec.replicas, 0);
}

/** Before what they would change under the measured tick. */
async function untilNoFollowUp({ kubectl }: Stage): Promise<void> {
  const active = ['-n', 'etcd-ratchet', 'get', 'jobs', '-o', 'jsonpath={.items[*].status.active}'];
  await until('no follow-up runs', async () => (await kubectl(active)).trim() === '', { within: 180, every: 1_000 });
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

const looks = ['skipped', 'full'] as const;
/** Each cluster has one every two to four minutes, at a tick a minute. */
const fullLooks = 1 / 3;

interface Line {
  /** Of no cluster, and of one more. */
  readonly base: number;
  readonly each: number;
}

/** Figures of a thousand clusters of one shard beside all those of others, which this machine has no room for. */
function printModel(figures: readonly TickFigures[], most: number): void {
  const whole = figures.filter(({ share }) => !share);
  const found = looks.map((look) => {
    const [first, last] = [whole.find((one) => one.look === look), whole.findLast((one) => one.look === look)];
    const beside = figures.find((one) => one.share && one.look === look);
    return first && last && beside?.share && first !== last
      ? { first, last, beside, own: beside.share.clusters }
      : undefined;
  });
  const [skipped, full] = found;
  if (!skipped || !full) return;
  const modelOf = (by: (run: TickFigures['runs'][number]) => number): number => {
    const lineOf = ({ first, last, beside, own }: typeof skipped): Line => {
      const each = (middle(last.runs, by) - middle(first.runs, by)) / (last.clusters - first.clusters);
      return { each, base: middle(beside.runs, by) - own * each };
    };
    const [rest, looked] = [lineOf(skipped), lineOf(full)];
    return rest.base + 1000 * ((1 - fullLooks) * rest.each + fullLooks * looked.each);
  };
  const [seconds, mebibytes] = [modelOf(cpu) / 1000, modelOf(peak)];
  console.log(
    `\nBy these figures, not measured: 1,000 clusters of one shard of ${most.toLocaleString('en')}, a third of whose looks are full, take ${seconds.toFixed(1)} s of processor time and ${mebibytes.toFixed(0)} MiB.`,
  );
  console.log(aim('at most 12 s of processor time', seconds <= 12));
  console.log(aim('at most 200 MiB', mebibytes <= 200));
}
