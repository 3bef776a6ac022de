import { loadavg } from 'node:os';
import { build } from '../../functions/build.ts';
import type { CheckReport } from '../../manifests/api/check-report.ts';
import { pushUntilConverged } from './converged.ts';
import { type Measured, measure, median } from './measure.ts';
import { enterServiceAccount, fillCompileCache } from './pod-like.ts';
import { clusterYaml, type Stage } from './stage.ts';
import { table } from './table.ts';

const times = 5;
const warmUps = 1;

interface CheckOutput {
  readonly reports: readonly CheckReport[];
  readonly requests: Readonly<Record<string, number>>;
}

interface Row {
  readonly what: string;
  readonly runs: readonly Measured[];
  readonly output: CheckOutput;
  readonly git: number;
  readonly forge: number;
}

/** Prints what checking a pull request costs that changes so many clusters. */
export async function measureChecks(
  stage: Stage,
  { directory, clusters }: { readonly directory: string; readonly clusters: number },
): Promise<void> {
  await build(directory);
  await fillCompileCache(directory);
  const env = await enterServiceAccount(stage.kubectl, directory);
  const { members } = await pushUntilConverged(stage, clusters, directory, env);
  const { work } = stage;
  const fresh = Array.from({ length: clusters }, (_, n) => clusterYaml(`fresh-${n}`, 3));
  const added = await work.propose('add', 'Add', { 'clusters/prod/fresh.yaml': fresh.join('---\n') });
  const live = await work.read('clusters/prod/birth.yaml');
  const upgrade = { 'clusters/prod/birth.yaml': live.replaceAll('version: 3.6.16', 'version: 3.7.3') };
  const upgraded = await work.propose('upgrade', 'Upgrade', upgrade);
  print([
    await measureOne(
      stage,
      { what: `${clusters} live ones (${members} members), upgraded`, sha: upgraded, directory, env },
      clusters,
    ),
    await measureOne(stage, { what: `${clusters} new ones of three`, sha: added, directory, env }, clusters),
  ]);
}

interface Asked {
  readonly what: string;
  readonly sha: string;
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
}

async function measureOne({ git, forge }: Stage, { what, sha, directory, env }: Asked, clusters: number): Promise<Row> {
  const runs: Measured[] = [];
  let counted = { git: 0, forge: 0 };
  for (let n = 0; n < warmUps + times; n++) {
    counted = { git: git.requests.length, forge: forge.requests.length };
    const run = await measure(`${directory}/tick.js`, ['--check', sha, '--output', 'json'], env);
    if (n >= warmUps) runs.push(run);
  }
  const output = JSON.parse(runs[0]?.stdout ?? '') as CheckOutput;
  const planned = output.reports[0]?.clusters.filter((cluster) => cluster.planned?.end.kind === 'done').length;
  if (planned !== clusters) throw new Error(`of ${clusters} changed clusters, ${planned} were planned to their end`);
  return { what, runs, output, git: git.requests.length - counted.git, forge: forge.requests.length - counted.forge };
}

function print(rows: readonly Row[]): void {
  const [load = 0] = loadavg();
  const figures = rows.map(({ what, runs, output, git, forge }) => {
    const ms = (by: (run: Measured) => number) => by(median(runs, by)).toFixed(0);
    const asked = Object.entries(output.requests);
    const dry = output.requests['PATCH etcdclusters'] ?? 0;
    const steps = output.reports[0]?.clusters.reduce((sum, { planned }) => sum + (planned?.steps.length ?? 0), 0);
    return [
      what,
      ms(({ wallMilliseconds }) => wallMilliseconds),
      ms(({ cpuMilliseconds }) => cpuMilliseconds),
      ms(({ peakMegabytes }) => peakMegabytes),
      String(asked.reduce((sum, [, count]) => sum + count, 0)),
      String(dry),
      String(git),
      String(forge),
      String(steps),
    ];
  });
  const head = [
    'changed clusters',
    'wall ms',
    'CPU ms',
    'peak MiB',
    'API requests',
    'of them dry runs',
    'Git',
    'forge',
    'steps planned',
  ];
  console.log(`## Check of a pull request, median of ${times} after ${warmUps} warm-up\n`);
  console.log(
    '`tick --check <sha>`, a process of the bundle from spawn to exit: merged in memory, validated, each document tried by a',
  );
  console.log(`server-side dry run, each live cluster observed and planned to its end. Load ${load.toFixed(1)}.\n`);
  console.log(table([head, ...figures]));
  for (const { what, output } of rows) {
    const asked = Object.entries(output.requests).map(([key, count]) => `${count} ${key}`);
    console.log(`\nAPI requests, ${what}: ${asked.join(', ')}`);
  }
}
