import { loadavg } from 'node:os';
import { build } from '../../functions/build.ts';
import { annotations } from '../../manifests/render/names.ts';
import { pushUntilConverged } from './converged.ts';
import { type Measured, measure, median } from './measure.ts';
import { enterServiceAccount, fillCompileCache } from './pod-like.ts';
import type { Stage } from './stage.ts';
import { aim, table } from './table.ts';

type Requests = Readonly<Record<string, number>>;

/** Skipped: where nothing moved, as nearly always. Full: each cluster, about every five minutes. */
type Look = 'skipped' | 'full';

export interface TickFigures {
  readonly look: Look;
  readonly clusters: number;
  readonly members: number;
  readonly runs: readonly Measured[];
  /** Of the run that made most. */
  readonly api: Requests;
  readonly git: number;
  readonly forge: number;
  readonly load: number;
}

/** The first ones tell the forge how it ended. */
const warmUps = 3;
const times = 5;
const limits = { wallSeconds: 0.4, requests: 12 };

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
  print(all);
}

interface Size {
  readonly look: Look;
  readonly clusters: number;
  readonly members: number;
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
}

async function measureSize(stage: Stage, { look, clusters, members, directory, env }: Size): Promise<TickFigures> {
  const runs: Measured[] = [];
  const before = () => ({ git: stage.git.requests.length, forge: stage.forge.requests.length });
  let counted = before();
  for (let n = 0; n < warmUps + times; n++) {
    if (look === 'full') await askForFullLooks(stage, n);
    counted = before();
    const run = await measure(`${directory}/tick.js`, ['--output', 'json'], env);
    if (n >= warmUps) runs.push(run);
    if (n >= warmUps) refuseWork(run.stdout, look, clusters);
  }
  // Not every tick writes a status: the one that asked most is what is judged.
  const asked = runs.map(({ stdout }) => (JSON.parse(stdout) as { readonly requests: Requests }).requests);
  const api = asked.toSorted((a, b) => total(b) - total(a))[0] ?? {};
  const now = before();
  const [load = 0] = loadavg();
  return { look, clusters, members, runs, api, git: now.git - counted.git, forge: now.forge - counted.forge, load };
}

/** As a person does who wants one. */
async function askForFullLooks({ kubectl }: Stage, n: number): Promise<void> {
  await kubectl(['annotate', 'etcdclusters', '--all', '-A', '--overwrite', `${annotations.reconcile}=bench-${n}`]);
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

function print(all: readonly TickFigures[]): void {
  const ms = (figures: TickFigures, by: (run: Measured) => number) => by(median(figures.runs, by)).toFixed(0);
  const rows = all.map((figures) => [
    `${figures.clusters} (${figures.members} members), ${figures.look}`,
    ms(figures, ({ wallMilliseconds }) => wallMilliseconds),
    ms(figures, ({ cpuMilliseconds }) => cpuMilliseconds),
    ms(figures, ({ peakMegabytes }) => peakMegabytes),
    String(total(figures.api)),
    String(figures.git),
    String(figures.forge),
    figures.load.toFixed(1),
  ]);
  const head = ['clusters, looks', 'wall ms', 'CPU ms', 'peak MiB', 'API requests', 'Git', 'forge', 'load'];
  console.log(`## One cold no-op tick, median of ${times} after ${warmUps} warm-ups\n`);
  console.log(
    'A process of the bundle (functions/build.ts), from spawn to exit, with the service account, environment and',
  );
  console.log("compile cache that it has in its pod and image; the pod's own start is not in it.");
  console.log(
    'Every cluster is real, with etcd processes of its own: the first 10 have three members, the others one.\n',
  );
  console.log(table([head, ...rows]));
  for (const { clusters, look, api } of all) {
    console.log(
      `\nAPI requests for ${clusters}, ${look}: ${Object.entries(api)
        .map(([what, count]) => `${count} ${what}`)
        .join(', ')}`,
    );
  }
  printAims(all);
}

function printAims(all: readonly TickFigures[]): void {
  const skipped = all.filter(({ look }) => look === 'skipped');
  const one = skipped.find(({ clusters }) => clusters === 1);
  const most = skipped.at(-1);
  if (!one || !most) return;
  const wall = median(one.runs, ({ wallMilliseconds }) => wallMilliseconds).wallMilliseconds / 1000;
  console.log('');
  console.log(aim(`one cluster in less than ${limits.wallSeconds} s`, wall < limits.wallSeconds));
  console.log(aim(`one cluster with at most ${limits.requests} API requests`, total(one.api) <= limits.requests));
  if (most !== one)
    console.log(aim(`as many API requests for ${most.clusters} clusters`, total(most.api) === total(one.api)));
}

function total(requests: Requests): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}
