import { build } from '../../functions/build.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import type { Gap } from '../e2e/support/knowing-writer.ts';
import { until } from '../e2e/support/until.ts';
import { load } from './conditions.ts';
import { measure } from './measure.ts';
import { enterServiceAccount, fillCompileCache } from './pod-like.ts';
import { rest } from './rest.ts';
import type { Stage } from './stage.ts';
import { aim, table } from './table.ts';
import { startWriterProcess, type WriterProcess } from './writer-process.ts';

/** What a cluster's life costs: each change of it under a writer, from the new spec to rest. */

const place = { namespace: 'life', name: 'lived' } as const;
/** Where no member died. */
const gapLimit = 100;
/** Where one was lost: etcd's election time, and half a second. */
const lossLimit = 1_500;

interface Row {
  readonly what: string;
  readonly seconds: number;
  readonly steps: number;
  readonly ticks: number;
  readonly requests: number;
  readonly gap: Gap;
  /** What was decided last before the gap was over. */
  readonly during: string;
  /** As in `WriterReport`. */
  readonly stall: number;
  readonly writes: number;
}

/** One tick's decision, and when it began, by `Date.now()`. */
interface Said {
  readonly at: number;
  readonly reason: string;
}

interface Change {
  readonly what: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** What else happens to it; the spec is applied before. */
  readonly strike?: (cluster: EtcdCluster) => Promise<void>;
  readonly done: (cluster: EtcdCluster) => boolean;
}

export async function measureLife(stage: Stage, { directory }: { readonly directory: string }): Promise<void> {
  const { kube, kubectl } = stage;
  await build(directory);
  await fillCompileCache(directory);
  const { CRONJOB_NAME: _, ...env } = await enterServiceAccount(kubectl, directory);
  const tick = () => measure(`${directory}/tick.js`, ['--namespace', place.namespace, '--output', 'json'], env);
  const get = () => kube.get<EtcdCluster>(resources.clusters, place.namespace, place.name);
  let spec: Record<string, unknown> = {
    replicas: 1,
    version: '3.6.16',
    storage: { size: '1Gi' },
    healing: { podGracePeriod: '5s', memberGracePeriod: '20s' },
  };
  await apply(stage, spec);
  await toRest(tick, get, () => true);

  const before = `${await rest()} ${load()}`;
  const writer = await startWriterProcess({ kubeconfig: stage.cluster.kubeconfigPath, ...place, prefix: 'life' });
  const rows: Row[] = [];
  for (const change of changes(stage)) {
    spec = { ...spec, ...change.spec };
    await until('writes', async () => (await writer.report()).acknowledged > 50);
    const row = await during(writer, change, { apply: () => apply(stage, spec), tick, get });
    rows.push(row);
    console.error(`${row.what}: ${row.seconds.toFixed(1)} s, longest gap ${gapText(row)}`);
  }
  const { acknowledged, lost } = await writer.finish();
  print(rows, { before, acknowledged, lost });
  await kubectl(['delete', 'namespace', place.namespace, '--wait=false']);
}

function changes({ kubectl }: Stage): readonly Change[] {
  const size = (replicas: number) => (cluster: EtcdCluster) => cluster.status?.readyReplicas === replicas;
  return [
    { what: '1 to 3 members', spec: { replicas: 3 }, done: size(3) },
    { what: '3 to 5 members', spec: { replicas: 5 }, done: size(5) },
    { what: '5 to 3 members', spec: { replicas: 3 }, done: (cluster) => cluster.status?.members?.length === 3 },
    {
      what: 'configuration of 3',
      spec: { etcd: { snapshotCount: 5000 } },
      done: (cluster) => cluster.status?.readyReplicas === 3,
    },
    {
      what: '3.6.16 to 3.7.3, of 3',
      spec: { version: '3.7.3' },
      done: ({ status }) => status?.members?.every(({ version }) => version === '3.7.3') === true,
    },
    {
      what: 'a lost member of 3 replaced (its grace: 20 s)',
      spec: {},
      strike: async ({ status }) => {
        const victim = status?.members?.find(({ name }) => name !== status.leader)?.name ?? '';
        const own = ['-n', place.namespace, 'delete', '--wait=false'];
        await kubectl([...own, 'pvc', victim]);
        await kubectl([...own, 'pod', `${victim}-0`, '--grace-period=0', '--force']);
      },
      done: ({ status }) => status?.members?.some(({ name }) => name === `${place.name}-3`) === true,
    },
  ];
}

interface Hands {
  readonly apply: () => Promise<void>;
  readonly tick: () => ReturnType<typeof measure>;
  readonly get: () => Promise<EtcdCluster | undefined>;
}

async function during(
  writer: WriterProcess,
  { what, strike, done }: Change,
  { apply, tick, get }: Hands,
): Promise<Row> {
  const cluster = await get();
  const from = await writer.report();
  const started = performance.now();
  await apply();
  if (strike && cluster) await strike(cluster);
  const { said, ...cost } = await toRest(tick, get, done);
  const seconds = (performance.now() - started) / 1000;
  const { gap, stall, acknowledged } = await writer.report();
  const during = said.findLast(({ at }) => at < gap.end)?.reason ?? 'nothing';
  return { what, seconds, ...cost, gap, during, stall, writes: acknowledged - from.acknowledged };
}

/** Ticks, as often as follow-ups would, until nothing is left to do and the change has come about. */
async function toRest(
  tick: Hands['tick'],
  get: Hands['get'],
  done: Change['done'],
): Promise<Pick<Row, 'steps' | 'ticks' | 'requests'> & { readonly said: readonly Said[] }> {
  let [steps, ticks, requests] = [0, 0, 0];
  const said: Said[] = [];
  let seen = '';
  await until(
    'rest',
    async () => {
      const at = Date.now();
      const { stdout } = await tick();
      const output = JSON.parse(stdout) as {
        readonly clusters: readonly {
          readonly outcome: string;
          readonly decision: { readonly kind: string; readonly reason: string; readonly message: string };
        }[];
        readonly requests: Readonly<Record<string, number>>;
      };
      const [result] = output.clusters;
      ticks += 1;
      steps += result?.outcome === 'acted' ? 1 : 0;
      requests += Object.values(output.requests).reduce((sum, count) => sum + count, 0);
      seen = result?.decision.message ?? '';
      said.push({ at, reason: result?.decision.reason ?? '' });
      const cluster = await get();
      return result?.decision.kind === 'done' && cluster !== undefined && done(cluster);
    },
    { within: 300, every: 300, last: () => seen },
  );
  return { steps, ticks, requests, said };
}

function gapText({ gap, stall, during }: Row): string {
  const left = gap.left.length === 0 ? 'no endpoint left' : gap.left.join(', ');
  return `${gap.milliseconds.toFixed(0)} ms during ${during} (${left}; longest stall ${stall.toFixed(0)} ms)`;
}

async function apply({ kubectl }: Stage, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place.namespace } },
    {
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { namespace: place.namespace, name: place.name },
      spec,
    },
  ];
  const stdin = objects.map((one) => JSON.stringify(one)).join('\n---\n');
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
}

function print(
  rows: readonly Row[],
  { before, acknowledged, lost }: { readonly before: string; readonly acknowledged: number; readonly lost: number },
): void {
  console.log('## The life of one cluster with TLS, under one writer that knows every endpoint\n');
  console.log(`Before: ${before}\n`);
  console.log(
    table([
      ['', 's', 'steps', 'ticks', 'API requests', 'writes', 'longest gap ms', 'stall ms', 'during'],
      ...rows.map(({ what, seconds, steps, ticks, requests, writes, gap, stall, during }) => [
        what,
        seconds.toFixed(1),
        String(steps),
        String(ticks),
        String(requests),
        String(writes),
        gap.milliseconds.toFixed(0),
        stall.toFixed(0),
        during,
      ]),
    ]),
  );
  console.log('');
  for (const { what, gap } of rows) {
    const limit = what.startsWith('a lost member') ? lossLimit : gapLimit;
    console.log(aim(`${what}: no gap of ${limit} ms`, gap.milliseconds < limit));
  }
  console.log(aim(`no acknowledged write lost (${acknowledged} writes)`, lost === 0));
  console.log(`After: ${load()}\n`);
}
