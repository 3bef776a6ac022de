import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { promisify } from 'node:util';
import { build } from '../../functions/build.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { provisionBinaries } from '../support/cluster/binaries.ts';
import { pushUntilConverged } from './converged.ts';
import { type Measured, measure, median } from './measure.ts';
import { enterServiceAccount, fillCompileCache } from './pod-like.ts';
import type { Stage } from './stage.ts';
import { aim, table } from './table.ts';

const run = promisify(execFile);

type Requests = Readonly<Record<string, number>>;

/** Skipped: where nothing moved, as nearly always. Full: each cluster, about every five minutes. */
type Look = 'skipped' | 'full';

/** What one of several looks at that share out a pass. */
export interface Share {
  readonly index: number;
  readonly of: number;
  /** How many of all. */
  readonly clusters: number;
  readonly isOwn: (cluster: EtcdCluster) => boolean;
}

export interface TickFigures {
  readonly look: Look;
  readonly share?: Share | undefined;
  readonly clusters: number;
  readonly members: number;
  readonly runs: readonly Measured[];
  /** `kubectl get etcdclusters -A`, in turns with them. */
  readonly beside: readonly Timed[];
  /** Of the run that made most. */
  readonly api: Requests;
  readonly git: number;
  readonly forge: number;
  readonly load: number;
}

/** How often a tick is measured; the first ones tell the forge how it ended. */
interface Counts {
  readonly warmUps: number;
  readonly times: number;
}

const counts: Counts = { warmUps: 3, times: 20 };
/** Of `kubectl get`, and MiB. */
const limits = { skipped: 1.5, full: 2.5, peak: 64, requests: 12 };

/** Prints what one cold tick that finds nothing to do costs, for so many clusters. */
export async function measureTicks(
  stage: Stage,
  { directory, sizes }: { readonly directory: string; readonly sizes: readonly number[] },
): Promise<void> {
  await build(directory);
  await fillCompileCache(directory);
  const env = await enterServiceAccount(stage.kubectl, directory);
  const all: TickFigures[] = [];
  for (const clusters of sizes) {
    const { members } = await pushUntilConverged(stage, clusters, directory, env);
    for (const look of ['skipped', 'full'] as const)
      all.push(await measureSize(stage, { look, clusters, members, directory, env }));
  }
  print(all, counts);
  console.log('');
  for (const look of ['skipped', 'full'] as const) printAims(all.filter((one) => one.look === look));
}

export interface Size {
  readonly look: Look;
  readonly clusters: number;
  readonly members: number;
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** Absent: all. */
  readonly share?: Share;
}

/** Ticks of one kind of look, in turns with kubectl. `options` are Node's. @throws when one had something to do */
export async function measureSize(
  stage: Stage,
  { look, clusters, members, directory, env, share }: Size,
  { warmUps, times }: Counts = counts,
  options: readonly string[] = [],
): Promise<TickFigures> {
  const runs: Measured[] = [];
  const beside: Timed[] = [];
  const before = () => ({ git: stage.git.requests.length, forge: stage.forge.requests.length });
  const args = ['--output', 'json', ...shardArgs(share)];
  let counted = before();
  for (let n = 0; n < warmUps + times; n++) {
    // Skipped ones follow a full look at all, for the next two minutes at least.
    if (look === 'full' || n === 0) await forgetFullLooks(stage, share);
    counted = before();
    const tick = await measure(`${directory}/tick.js`, args, env, options);
    if (n >= warmUps) runs.push(tick);
    if (n >= warmUps) beside.push(await timeKubectl(stage));
    if (n >= warmUps) refuseWork(tick.stdout, look, share?.clusters ?? clusters);
  }
  // Not every tick writes a status: the one that asked most is what is judged.
  const asked = runs.map(({ stdout }) => (JSON.parse(stdout) as { readonly requests: Requests }).requests);
  const api = asked.toSorted((a, b) => total(b) - total(a))[0] ?? {};
  const now = before();
  const [load = 0] = loadavg();
  return {
    look,
    share,
    clusters,
    members,
    runs,
    beside,
    api,
    git: now.git - counted.git,
    forge: now.forge - counted.forge,
    load,
  };
}

/** Of a tick that looks at its share only. */
export function shardArgs(share: Share | undefined): readonly string[] {
  return share ? ['--shard', `${share.index}/${share.of}`] : [];
}

type Timed = Pick<Measured, 'wallMilliseconds' | 'cpuMilliseconds'>;

/** As bash measures a program, which is not Node's. */
async function timeKubectl({ cluster }: Stage): Promise<Timed> {
  const { kubectl } = (await provisionBinaries()).kubernetes;
  const timed = 'TIMEFORMAT="%R %U %S"; time "$0" get etcdclusters -A > /dev/null';
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, KUBECONFIG: cluster.kubeconfigPath };
  const { stderr } = await run('bash', ['-c', timed, kubectl], { env });
  const [wall = 0, user = 0, system = 0] = stderr.trim().split(' ').map(Number);
  return { wallMilliseconds: wall * 1000, cpuMilliseconds: (user + system) * 1000 };
}

/** As if the last full look of each had been long ago. */
async function forgetFullLooks({ kube }: Stage, share: Share | undefined): Promise<void> {
  const { items } = await kube.list<EtcdCluster>(resources.clusters, {});
  for (const cluster of items.filter((one) => share?.isOwn(one) ?? true)) {
    const { fullLook: _, ...status } = cluster.status ?? assert.fail(`${cluster.metadata.name} has no status`);
    await kube.updateStatus<EtcdCluster>(resources.clusters, { ...cluster, status });
  }
}

interface TickOutput {
  readonly clusters: readonly {
    readonly name: string;
    readonly look?: 'skipped';
    readonly decision: { kind: string; message: string };
  }[];
}

/** @throws when the tick had something to do, or took another look: then it is not what is measured here. */
function refuseWork(stdout: string, look: Look, expected: number): void {
  const { clusters } = JSON.parse(stdout) as TickOutput;
  const busy = clusters.filter((one) => one.decision.kind !== 'done' || (one.look ?? 'full') !== look);
  const what = busy.map(({ name, decision }) => `${name}: ${decision.kind}, ${decision.message}`).join('; ');
  if (clusters.length === expected && busy.length === 0) return;
  throw new Error(`of ${expected} clusters, the measured tick saw ${clusters.length}, and had work to do: ${what}`);
}

function shareText({ share }: TickFigures): string {
  return share ? `, ${share.clusters} of them (--shard ${share.index}/${share.of})` : '';
}

export function print(all: readonly TickFigures[], { times, warmUps }: Counts): void {
  const rows = all.map((figures) => [
    `${figures.clusters} (${figures.members} members), ${figures.look}${shareText(figures)}`,
    middle(figures.runs, wall).toFixed(0),
    middle(figures.runs, cpu).toFixed(0),
    `${timesKubectl(figures, wall).toFixed(1)} ×, ${timesKubectl(figures, cpu).toFixed(1)} ×`,
    middle(figures.runs, peak).toFixed(0),
    String(total(figures.api)),
    String(figures.git),
    String(figures.forge),
    figures.load.toFixed(1),
  ]);
  const head = [
    'clusters, looks',
    'wall ms',
    'CPU ms',
    'kubectl get',
    'peak MiB',
    'API requests',
    'Git',
    'forge',
    'load',
  ];
  console.log(`## One cold no-op tick, median of ${times} after ${warmUps} warm-ups\n`);
  console.log(
    'A process of the bundle (functions/build.ts), from spawn to exit, with the service account, environment and',
  );
  console.log("compile cache that it has in its pod and image; the pod's own start is not in it.");
  console.log('In turns with `kubectl get etcdclusters -A`: how many times its wall and processor time a tick takes.');
  console.log(
    'Clusters are real, with etcd processes of their own: the first 10 have three members, the others one.\n',
  );
  console.log(table([head, ...rows]));
  for (const { clusters, look, api } of all) {
    console.log(
      `\nAPI requests for ${clusters}, ${look}: ${Object.entries(api)
        .map(([what, count]) => `${count} ${what}`)
        .join(', ')}`,
    );
  }
}

const wall = ({ wallMilliseconds }: Timed) => wallMilliseconds;
export const cpu = ({ cpuMilliseconds }: Timed) => cpuMilliseconds;
export const peak = ({ peakMegabytes }: Measured) => peakMegabytes;

export function middle<T>(runs: readonly T[], by: (run: T) => number): number {
  return by(median(runs, by));
}

function timesKubectl({ runs, beside }: TickFigures, by: (one: Timed) => number): number {
  return middle(runs, by) / middle(beside, by);
}

function printAims(all: readonly TickFigures[]): void {
  const one = all.find(({ clusters }) => clusters === 1);
  const most = all.at(-1);
  if (!one || !most) return;
  const { look } = one;
  for (const [what, by] of [
    ['wall', wall],
    ['processor', cpu],
  ] as const)
    console.log(
      aim(`a ${look} look at most ${limits[look]} times kubectl's ${what} time`, timesKubectl(one, by) <= limits[look]),
    );
  console.log(aim(`at most ${limits.peak} MiB`, middle(one.runs, peak) <= limits.peak));
  if (look === 'full') return;
  console.log(aim(`one cluster with at most ${limits.requests} API requests`, total(one.api) <= limits.requests));
  if (most !== one)
    console.log(aim(`as many API requests for ${most.clusters} clusters`, total(most.api) === total(one.api)));
}

function total(requests: Requests): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}
