import { build } from '../../functions/build.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { load } from './conditions.ts';
import { type Measured, measure, median } from './measure.ts';
import { enterServiceAccount, fillCompileCache } from './pod-like.ts';
import type { Stage } from './stage.ts';
import { aim, table } from './table.ts';
import { measureGaps } from './tls-gaps.ts';

/** The same clusters with TLS and without, in one run and by turns, so that a slow minute is shared by both. */

interface Size {
  readonly clusters: number;
  readonly replicas: number;
}

type Mode = 'Managed' | 'Disabled';
const modes = ['Managed', 'Disabled'] as const;
const warmUps = 1;
const times = 9;
/** How many times as long a no-op tick may take with TLS. */
const tickLimit = 1.15;
const patience = 600_000;
/**
 * So many ticks may find a member that did not answer in time on a machine that others use; each is said, and none is
 * counted.
 */
const tolerated = 10;

interface TickOutput {
  readonly clusters: readonly { readonly decision: { readonly kind: string; readonly reason: string } }[];
  readonly requests: Readonly<Record<string, number>>;
}

export async function measureTls(
  stage: Stage,
  { directory, quick }: { readonly directory: string; readonly quick: boolean },
): Promise<void> {
  await build(directory);
  await fillCompileCache(directory);
  const { CRONJOB_NAME: _, ...env } = await enterServiceAccount(stage.kubectl, directory);
  // Without a CronJob to go on: its follow-up Jobs would take some of the steps that are measured, and load the
  // machine.
  const tick = (namespace: string, ...more: string[]) =>
    measure(`${directory}/tick.js`, ['--namespace', namespace, '--output', 'json', ...more], env);

  const sizes: readonly Size[] = quick
    ? [{ clusters: 1, replicas: 3 }]
    : [
        { clusters: 1, replicas: 3 },
        { clusters: 100, replicas: 1 },
      ];
  const ticks: string[][] = [];
  const issuing: string[][] = [];
  const aims: string[] = [];
  for (const size of sizes) {
    const namespaces = { Managed: `tls-${size.clusters}`, Disabled: `plain-${size.clusters}` } as const;
    for (const mode of modes) {
      await apply(stage, namespaces[mode], size, mode);
      const issued = await converge(tick, namespaces[mode], size.clusters);
      if (mode === 'Disabled') continue;
      if (issued === undefined) throw new Error(`certificates of ${namespaces[mode]} were made by none of the ticks`);
      issuing.push([nameOf(size), issued.toFixed(0)]);
    }
    const runs = await byTurns(tick, namespaces, size.clusters);
    const medians = modes.map((mode) => median(runs[mode], ({ wallMilliseconds }) => wallMilliseconds));
    const [tls = medians[0], plain = medians[0]] = medians;
    if (!tls || !plain) throw new Error('nothing was measured');
    const ratio = tls.wallMilliseconds / plain.wallMilliseconds;
    ticks.push([
      nameOf(size),
      plain.wallMilliseconds.toFixed(0),
      tls.wallMilliseconds.toFixed(0),
      ratio.toFixed(2),
      `${plain.cpuMilliseconds.toFixed(0)} / ${tls.cpuMilliseconds.toFixed(0)}`,
      `${requestsOf(plain)} / ${requestsOf(tls)}`,
    ]);
    aims.push(aim(`no-op tick of ${nameOf(size)} within ${tickLimit} × that without TLS`, ratio <= tickLimit));
    // Before anything larger is on the machine: it would show in the gaps.
    if (size.clusters === 1) {
      await measureGaps(stage, {
        namespace: namespaces.Managed,
        name: 'bench-000',
        tick: () => tick(namespaces.Managed),
      });
    }
    for (const mode of modes) await remove(stage, namespaces[mode]);
  }
  console.log(`## One cold no-op tick with TLS beside without, median of ${times}, by turns\n`);
  console.log(table([['clusters', 'plain ms', 'TLS ms', 'ratio', 'CPU ms', 'API requests'], ...ticks]));
  console.log(`\n${aims.join('\n')}\n`);
  console.log('## The one tick that makes the CAs and signs every leaf, whole process, ms\n');
  console.log(table([['clusters', 'ms'], ...issuing]));
  console.log(`${load()}\n`);
}

function nameOf({ clusters, replicas }: Size): string {
  return `${clusters} (${clusters * replicas} members)`;
}

async function apply({ kubectl }: Stage, namespace: string, { clusters, replicas }: Size, mode: Mode): Promise<void> {
  const names = Array.from({ length: clusters }, (_, n) => `bench-${String(n).padStart(3, '0')}`);
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...names.map((name) => ({
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name, namespace },
      spec: { replicas, version: '3.6.16', storage: { size: '1Gi' }, tls: { mode, rotationOverlap: '1s' } },
    })),
  ];
  await kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: objects.map((one) => JSON.stringify(one)).join('\n---\n'),
  });
}

type Tick = (namespace: string, ...more: string[]) => Promise<Measured>;

/**
 * @returns how long the tick took in which certificates were made, in milliseconds; of several, the longest.
 * `undefined`: none of these ticks made any.
 */
async function converge(tick: Tick, namespace: string, clusters: number): Promise<number | undefined> {
  const deadline = performance.now() + patience;
  let issuing: number | undefined;
  for (;;) {
    // No waiting inside the tick: each is one step for each, and its time is that of the step.
    const run = await tick(namespace);
    const { clusters: seen } = JSON.parse(run.stdout) as TickOutput;
    if (seen.some(({ decision }) => decision.reason === 'PreparingMembers')) {
      issuing = Math.max(issuing ?? 0, run.wallMilliseconds);
    }
    if (seen.length === clusters && seen.every(({ decision }) => decision.kind === 'done')) return issuing;
    if (performance.now() > deadline) throw new Error(`${namespace} did not converge: ${run.stdout.slice(0, 500)}`);
  }
}

async function byTurns(
  tick: Tick,
  namespaces: Readonly<Record<Mode, string>>,
  clusters: number,
): Promise<Readonly<Record<Mode, readonly Measured[]>>> {
  const runs: Record<Mode, Measured[]> = { Managed: [], Disabled: [] };
  let disturbed = 0;
  for (let n = 0; n < warmUps + times; n++) {
    for (const mode of modes) {
      let run = await tick(namespaces[mode]);
      for (let busy = workOf(run, clusters); busy !== undefined; busy = workOf(run, clusters)) {
        disturbed += 1;
        if (disturbed > tolerated) throw new Error(`the tick had work to do: ${busy}`);
        console.log(`Not counted, a tick of ${clusters} (${mode}) that had work to do: ${busy}. ${load()}`);
        run = await tick(namespaces[mode]);
      }
      if (n >= warmUps) runs[mode].push(run);
    }
  }
  return runs;
}

/** What else there was than nothing to do. */
function workOf({ stdout }: Measured, clusters: number): string | undefined {
  const { clusters: seen } = JSON.parse(stdout) as TickOutput;
  if (seen.length !== clusters) return `it saw ${seen.length} clusters`;
  const busy = seen.filter(({ decision }) => decision.kind !== 'done');
  return busy.length === 0 ? undefined : [...new Set(busy.map(({ decision }) => decision.reason))].join(', ');
}

function requestsOf({ stdout }: Measured): number {
  const { requests } = JSON.parse(stdout) as TickOutput;
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

/** Their processes would slow down what is measured next. */
async function remove({ kube, kubectl }: Stage, namespace: string): Promise<void> {
  const { items } = await kube.list<EtcdCluster>(resources.clusters, { namespace });
  if (items.length > 0) await kubectl(['-n', namespace, 'delete', 'etcdclusters', '--all', '--wait=false']);
  await kubectl(['delete', 'namespace', namespace, '--wait=false']);
}
