import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../../functions/build.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { type Kube, resources } from '../../reconcile/interfaces/kube.ts';
import { inParallel } from '../../reconcile/stepping/in-parallel.ts';
import { fleetObject } from '../e2e/support/furniture.ts';
import { until } from '../e2e/support/until.ts';
import { hostileAnswers, startHostileMember, startSilentMember } from '../integration/clients/hostile-member.ts';
import { type ApiServer, install, startApiServer } from '../integration/manifests/api-server.ts';
import { fitting, justFits, largeNamespaces } from '../integration/manifests/large-namespaces.ts';
import { adopting, cluster, reportPod } from '../integration/manifests/tenants-objects.ts';
import { startGitServer } from '../support/git/server.ts';
import { localSettings } from '../support/network.ts';
import { load } from './conditions.ts';
import { largeFile } from './hostile-inputs.ts';
import { type Measured, measure, median } from './measure.ts';
import { fillCompileCache, heapOfPod } from './pod-like.ts';
import { aim, table } from './table.ts';

const aims = { ticks: 1, megabytes: 256, percent: 10 };
const address = '127.0.0.69';

interface Row {
  readonly what: string;
  /** Until a cluster of another namespace had its step, the most of those tried. */
  readonly ticks: number;
  readonly seconds: number;
  /** From the start of a tick's process until that cluster had its step, the median of those tried. */
  readonly stepAfterSeconds: number;
  readonly peakMegabytes: number;
  /** What became of most of the tenant's own. */
  readonly told: string;
}

interface Ticked {
  readonly clusters: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly outcome: string;
  }[];
  readonly namespacesLeftOut?: Readonly<Record<string, unknown>>;
}

/**
 * Prints, for each thing that a tenant of one namespace may do, within how many ticks a new cluster of another one gets
 * its step, and what a tick takes. On a real API server, by the bundle with the rights of its own account.
 */
export async function measureHostileTenants({ quick }: { readonly quick: boolean }): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-bench-'));
  try {
    await using api = await startApiServer();
    await api.kubectl(['apply', '-k', install]);
    // What was there before it came is read all the same.
    await api.kubectl(['delete', 'validatingadmissionpolicybinding', 'etcd-ratchet-annotations']);
    const row = await benchOn(api, directory);
    const silent = quick ? 16 : 500;
    const kube = await api.kubeOf(account);
    // One after the other, because they are compared: what else this machine does changes with time.
    const alone = await row('nothing', async () => undefined, { times: timesCompared });
    const beside = await silentRow(row, (namespace) => members(api, kube, namespace, silent), silent);
    const rows = [alone, beside];
    for (const [what, attack] of Object.entries(largeNamespaces)) {
      rows.push(await row(what, (namespace) => attack(api, namespace)));
    }
    rows.push(await row(justFits, (namespace) => fitting(api, namespace)));
    const many = quick ? 8 : 32;
    for (const [what, { answer }] of Object.entries(hostileAnswers)) {
      await using _ = await startHostileMember(answer(), { host: address, port: 2379 });
      rows.push(
        await row(`${many} members that answer with ${what}`, (namespace) => members(api, kube, namespace, many)),
      );
    }
    await using _ = await startSilentMember(address);
    const crowd = quick ? 200 : 1_000;
    rows.push(
      await row(`${crowd} small EtcdClusters, half of whose members never answer`, (namespace) =>
        crowded(api, kube, namespace, crowd),
      ),
    );
    rows.push(await dumpedRow(row, api));
    print(rows, { alone, beside });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const account = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' };
/** The first tick looks for the pods of an adopted cluster, and those after it ask them. */
const times = 3;
/** Of the two rows whose steps of the other are compared. */
const timesCompared = 5;

interface Repeated {
  /** Before each time. */
  readonly each?: (time: number) => Promise<void>;
  readonly times?: number;
}

/** Measures beside what is done to a namespace of its own, which goes afterwards. */
async function benchOn(api: ApiServer, directory: string) {
  await build(directory);
  await fillCompileCache(directory);
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, await api.kubeconfigOf(account), { mode: 0o600 });
  const kube: Kube = await api.kubeOf(account);
  const pod = { POD_NAME: 'bench', POD_UID: 'bench', POD_NAMESPACE: account.namespace };
  const cache = { NODE_COMPILE_CACHE: join(directory, '.compile-cache') };
  const env = { PATH: process.env.PATH, ...cache, ...pod, ...localSettings };
  let made = 0;
  const args = ['--kubeconfig', kubeconfig, '--output=json'];
  const tick = () => measure(join(directory, 'tick.js'), args, env, heapOfPod);

  /** What it holds would count beside the next row. Finalizers of clusters go by ticks. */
  const gone = async (namespace: string) => {
    await api.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    const isGone = async () => (await api.kubectl(['get', 'namespace', namespace, '--ignore-not-found'])) === '';
    const left = async () =>
      (await api.kubectl(['-n', namespace, 'get', 'etcdclusters', '-o', 'name'])).split('\n').length;
    // However many they are: as long as some go.
    for (let before = Number.POSITIVE_INFINITY, over = false; !over; ) {
      const look = async () => {
        await tick();
        over = await isGone();
        const now = over ? 0 : await left();
        const isLess = now < before;
        before = Math.min(before, now);
        return over || isLess;
      };
      await until(`fewer clusters are left in namespace ${namespace}`, look, { within: 180, every: 1_000 });
    }
  };

  /** Each time with another new cluster of the other namespace, which is looked for until it had its step. */
  return async (
    what: string,
    attack: (namespace: string) => Promise<void>,
    { each = async () => undefined, times: tried = times }: Repeated = {},
  ): Promise<Row> => {
    const [tenant, other] = [`mallory-${made}`, `payments-${made}`];
    for (const namespace of [tenant, other]) await api.kubectl(['create', 'namespace', namespace]);
    await api.kubectl(['-n', tenant, 'wait', '--for=create', 'serviceaccount/default', '--timeout=30s']);
    await attack(tenant);
    const runs: (Measured & { readonly ticks: number })[] = [];
    const steps: number[] = [];
    for (let time = 0; time < tried; time++) {
      await each(time);
      const name = `orders-${made++}`;
      const { metadata } = await kube.create<EtcdCluster>(resources.clusters, cluster(other, name), signal());
      for (let ticks = 1, acted = false; !acted; ticks++) {
        if (ticks > 5) throw new Error(`beside ${what}, ${other}/${name} had no step in 5 ticks`);
        const over = new AbortController();
        const startedAt = performance.now();
        const [run, steppedAt] = await Promise.all([
          // What was written last is told a moment later.
          tick().finally(() => setTimeout(() => over.abort(), 1_000)),
          whenStepped(kube, metadata, over.signal),
        ]);
        acted = clustersIn(run).some((one) => one.namespace === other && one.name === name && isStep(one));
        if (steppedAt !== undefined) steps.push(steppedAt - startedAt);
        runs.push({ ...run, ticks });
      }
    }
    const middle = median(runs, ({ wallMilliseconds }) => wallMilliseconds);
    const measured = {
      ticks: Math.max(...runs.map(({ ticks }) => ticks)),
      seconds: middle.wallMilliseconds / 1000,
      stepAfterSeconds: median(steps, (milliseconds) => milliseconds) / 1000,
      peakMegabytes: Math.max(...runs.map(({ peakMegabytes }) => peakMegabytes)),
      told: toldIn(tenant, runs.at(-1)?.stdout ?? '{"clusters":[]}'),
    };
    // The table comes minutes later, and only where every row was measured.
    console.error(`${what}: ${JSON.stringify(measured)}`);
    await gone(tenant);
    await gone(other);
    return { what, ...measured };
  };
}

/** Takes each connection, and never answers. */
async function silentRow(
  row: Awaited<ReturnType<typeof benchOn>>,
  attack: (namespace: string) => Promise<void>,
  many: number,
): Promise<Row> {
  await using _ = await startSilentMember(address);
  return await row(`${many} members that never answer`, attack, { times: timesCompared });
}

/** A fleet whose repository has another such file each time: what was read once is not read again. */
async function dumpedRow(row: Awaited<ReturnType<typeof benchOn>>, { send }: ApiServer): Promise<Row> {
  await using server = await startGitServer();
  const repository = await server.createRepository('dump');
  const make = async (namespace: string) => {
    const fleet = fleetObject(namespace, repository.url, '', { forge: undefined });
    const path = `/apis/etcd.ratchet.dev/v1alpha1/namespaces/${namespace}/etcdfleets`;
    const { status, body } = await send('POST', path, fleet);
    assert.equal(status, 201, body.message);
  };
  const each = async (time: number) => {
    const { 'dump.yaml': dump = '' } = largeFile.files();
    await repository.commit({ 'clusters/dump.yaml': `${dump}${time}` });
  };
  return await row(`a repository with a file of ${largeFile.mebibytes} MiB`, make, { each });
}

/** Clusters that are taken over, whose only member is at that address. */
async function members(api: ApiServer, kube: Kube, namespace: string, many: number): Promise<void> {
  await reportPod(api, namespace, 'hostile', { podIP: address, phase: 'Running' });
  await inParallel([...Array(many).keys()], 8, (index) =>
    kube.create(resources.clusters, adopting(namespace, `hostile-${index}`, 'hostile'), signal()),
  );
}

/** The other half are born: each has a step that writes. */
async function crowded(api: ApiServer, kube: Kube, namespace: string, many: number): Promise<void> {
  await members(api, kube, namespace, many / 2);
  await inParallel([...Array(many / 2).keys()], 8, (index) =>
    kube.create(resources.clusters, cluster(namespace, `small-${index}`, { replicas: 1 }), signal()),
  );
}

function signal() {
  return { signal: AbortSignal.timeout(60_000) };
}

/** When the report of the cluster's first step was there, by `performance.now()`. `undefined`: not until the signal. */
async function whenStepped(
  kube: Kube,
  { namespace, name, resourceVersion = '' }: EtcdCluster['metadata'],
  signal: AbortSignal,
): Promise<number | undefined> {
  const options = { namespace, resourceVersion, signal };
  for await (const { object } of kube.watch<EtcdCluster>(resources.clusters, options))
    if (object.metadata.name === name && object.status?.history !== undefined) return performance.now();
  return undefined;
}

function isStep({ outcome }: Ticked['clusters'][number]): boolean {
  return outcome === 'acted';
}

function clustersIn({ stdout }: Measured): Ticked['clusters'] {
  return (JSON.parse(stdout) as Ticked).clusters;
}

function toldIn(tenant: string, stdout: string): string {
  const { clusters, namespacesLeftOut = {} } = JSON.parse(stdout) as Ticked;
  if (tenant in namespacesLeftOut) return 'its namespace is left out';
  const outcomes = Map.groupBy(
    clusters.filter(({ namespace }) => namespace === tenant),
    ({ outcome }) => outcome,
  );
  const [most] = [...outcomes].toSorted(([, one], [, other]) => other.length - one.length);
  return most ? `${most[1].length} × ${most[0]}` : '';
}

function print(rows: readonly Row[], { alone, beside }: Readonly<Record<'alone' | 'beside', Row>>): void {
  console.log('## A hostile tenant beside another one\n');
  console.log(
    table([
      [
        'in one namespace',
        'ticks to the other’s step',
        'the other’s step after, s',
        'a tick, s',
        'peak MiB',
        'it is told',
      ],
      ...rows.map(({ what, ticks, stepAfterSeconds, seconds, peakMegabytes, told }) => [
        what,
        String(ticks),
        stepAfterSeconds.toFixed(2),
        seconds.toFixed(1),
        peakMegabytes.toFixed(0),
        told,
      ]),
    ]),
  );
  console.log(`\n${load()}\n`);
  const ticks = Math.max(...rows.map((one) => one.ticks));
  const peak = Math.max(...rows.map(({ peakMegabytes }) => peakMegabytes));
  console.log(aim(`another namespace’s step comes within ${aims.ticks} tick: ${ticks}`, ticks <= aims.ticks));
  const percent = (beside.stepAfterSeconds / alone.stepAfterSeconds - 1) * 100;
  const seconds = `${alone.stepAfterSeconds.toFixed(2)} s and ${beside.stepAfterSeconds.toFixed(2)} s`;
  const cost = `${beside.what} cost the other’s step at most ${aims.percent} %: ${percent.toFixed(0)} % (${seconds})`;
  console.log(aim(cost, percent <= aims.percent));
  console.log(aim(`the peak is at most ${aims.megabytes} MiB: ${peak.toFixed(0)}`, peak <= aims.megabytes));
}
