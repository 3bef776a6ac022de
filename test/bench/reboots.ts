import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { Node, Pod } from '../../manifests/kube-types.ts';
import { annotations, labels } from '../../manifests/render/names.ts';
import { isReason, resources } from '../../reconcile/interfaces/kube.ts';
import { isWholeOf } from '../e2e/support/conditions.ts';
import { startKnowingWriter } from '../e2e/support/knowing-writer.ts';
import { clusterYaml } from '../e2e/support/specs.ts';
import { until } from '../e2e/support/until.ts';
import { createWarmTicks, type WarmTicks } from '../e2e/support/warm-ticks.ts';
import { load } from './conditions.ts';
import { rest } from './rest.ts';
import type { Stage } from './stage.ts';
import { aim, table } from './table.ts';

const namespace = 'reboots';
const names = ['carts', 'orders', 'users'] as const;
const nodeNames = ['node-1', 'node-2', 'node-3'] as const;
const component = resolve(import.meta.dirname, '../../manifests/install/components/node-reboots');
/** In milliseconds. */
const gapLimit = 100;
/**
 * A write that a follower passes on to a leader that hands over is dropped, and nobody says so: a client asks the next
 * endpoint when it has had enough. The first of these two clients does that as an application might; the second asks
 * all at once, so that its gaps are those of the cluster. In milliseconds.
 */
const clients = [{ soon: 50 }, { soon: 1 }] as const;

interface Figures {
  readonly seconds: number;
  readonly invocations: number;
  readonly requests: number;
  readonly acknowledged: number;
  readonly lost: number;
  /** Of each of the clients. */
  readonly longestGaps: readonly number[];
  /** What went wrong during the longest gap of each writer. */
  readonly gaps: readonly string[];
}

/** Three nodes reboot under three clusters of three, each with a writer: by a policy, and by eviction alone. */
export async function measureReboots(stage: Stage): Promise<void> {
  const { kubectl, cluster } = stage;
  await kubectl(['create', 'namespace', namespace]);
  for (const file of ['namespace.yaml', 'agent-role.yaml'])
    await kubectl(['apply', '--server-side', '-f', resolve(component, file)]);
  await using ticks = createWarmTicks({
    KUBECONFIG: cluster.kubeconfigPath,
    RATCHET_NODE_REBOOTS: 'etcd-ratchet-reboots',
  });
  await using plain = createWarmTicks({ KUBECONFIG: cluster.kubeconfigPath });
  for (const name of names)
    await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace) });
  await whole(stage, plain);
  const before = `${await rest()}\n${load()}`;
  const byPolicy = await during(stage, plain, () => rebootByPolicy(stage, ticks));
  const byEviction = await during(stage, plain, () => rebootByEviction(stage, plain));
  const row = (what: string, { seconds, invocations, requests, acknowledged, lost, longestGaps }: Figures) => [
    what,
    seconds.toFixed(1),
    String(invocations),
    String(requests),
    String(acknowledged),
    String(lost),
    ...longestGaps.map((gap) => gap.toFixed(0)),
  ];
  console.log('## Three nodes reboot, each 2 s down; three clusters of three, a writer for each\n');
  console.log(`Before: ${before}\n`);
  console.log(
    table([
      [
        '',
        's',
        'invocations',
        'API requests',
        'writes',
        'lost',
        ...clients.map(({ soon }) => `longest gap ms, next endpoint after ${soon} ms`),
      ],
      row('EtcdNodePolicy', byPolicy),
      row('eviction alone: no leader moved, etcd not asked', byEviction),
    ]),
  );
  console.log('');
  for (const [what, { gaps }] of [
    ['EtcdNodePolicy', byPolicy],
    ['eviction alone', byEviction],
  ] as const)
    console.log(`Longest gaps, ${what}: ${gaps.join('; ')}\n`);
  console.log(aim(`no acknowledged write is lost`, byPolicy.lost === 0));
  console.log(
    aim(
      `the longest gap is under ${gapLimit} ms`,
      byPolicy.longestGaps.every((gap) => gap < gapLimit),
    ),
  );
}

interface Counted {
  readonly invocations: number;
  readonly requests: number;
}

async function during(stage: Stage, plain: WarmTicks, reboot: () => Promise<Counted>): Promise<Figures> {
  const { kube } = stage;
  const writers = await Promise.all(
    clients.flatMap((client) =>
      names.map(async (name) => {
        const prefix = `bench-${client.soon}`;
        return { client, name, writer: await startKnowingWriter(kube, { namespace, name }, prefix, client) };
      }),
    ),
  );
  await until('fifty writes each', () => writers.every(({ writer }) => writer.acknowledged >= 50));
  for (const { writer } of writers) {
    writer.longestGap();
    writer.gap();
  }
  const started = performance.now();
  const counted = await reboot();
  const seconds = (performance.now() - started) / 1000;
  await whole(stage, plain);
  const longestGaps = clients.map((client) =>
    Math.max(...writers.flatMap((one) => (one.client === client ? [one.writer.longestGap()] : []))),
  );
  const gaps = writers.map(({ client: { soon }, name, writer }) => {
    const { milliseconds, left } = writer.gap();
    return `${name}, after ${soon} ms: ${milliseconds.toFixed(0)} ms${left.length > 0 ? ` (${left.join(', ')})` : ''}`;
  });
  const ends = await Promise.all(writers.map(({ writer }) => writer.finish()));
  const sum = (of: (end: (typeof ends)[number]) => number) => ends.reduce((total, end) => total + of(end), 0);
  return {
    seconds,
    ...counted,
    acknowledged: sum((end) => end.acknowledged),
    lost: sum((end) => end.lost),
    longestGaps,
    gaps,
  };
}

async function whole({ kube }: Stage, ticks: WarmTicks): Promise<void> {
  await until(
    'all clusters are whole',
    async () => {
      await ticks.tick('--namespace', namespace, '--wait=2');
      const { items } = await kube.list<EtcdCluster>(resources.clusters, { namespace });
      return items.length === names.length && items.every(isWholeOf(3));
    },
    { within: 240 },
  );
}

async function rebootByPolicy({ kubectl, kube }: Stage, ticks: WarmTicks): Promise<Counted> {
  const about = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdNodePolicy', metadata: { name: 'bench' } };
  await kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: JSON.stringify({ ...about, spec: { nodeSelector: {} } }),
  });
  await kubectl(['annotate', 'nodes', '--all', `${annotations.rebootNeeded}=bench`]);
  let [invocations, requests] = [0, 0];
  await until(
    'three reboots are done',
    async () => {
      const { stdout } = await ticks.tick('--namespace', namespace, '--wait=10', '--output=json');
      invocations += 1;
      requests += requestsIn(stdout);
      const found = await kube.get<EtcdNodePolicy>(resources.nodePolicies, undefined, 'bench');
      return found?.status?.done === 3 && found.status.inProgress === 0;
    },
    { within: 300 },
  );
  return { invocations, requests };
}

function requestsIn(stdout: string): number {
  const { requests } = JSON.parse(stdout) as { readonly requests: Readonly<Record<string, number>> };
  return Object.values(requests).reduce((a, b) => a + b, 0);
}

/** As a drain of each node in turn, with the clusters' own ticks beside it. */
async function rebootByEviction(stage: Stage, ticks: WarmTicks): Promise<Counted> {
  let isOver = false;
  let [invocations, requests] = [0, 0];
  const ticking = (async () => {
    while (!isOver) {
      const { stdout } = await ticks.tick('--namespace', namespace, '--wait=2', '--output=json');
      invocations += 1;
      requests += requestsIn(stdout);
    }
  })();
  try {
    for (const name of nodeNames) requests += await drainAndReboot(stage, name);
  } finally {
    isOver = true;
    await ticking;
  }
  return { invocations, requests };
}

/** @returns its requests of the API server, but those that wait for the node */
async function drainAndReboot({ kubectl, kube, cluster }: Stage, name: string): Promise<number> {
  // To cordon and to uncordon: each reads and writes.
  let requests = 4;
  const bootOf = async () => {
    const found = await kube.get<Node>(resources.nodes, undefined, name);
    const isReady = found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    return isReady ? (found?.status?.nodeInfo?.bootID ?? '') : '';
  };
  const before = await bootOf();
  await kubectl(['cordon', name]);
  await until(
    `${name} is drained`,
    async () => {
      const { items } = await kube.list<Pod>(resources.pods, {
        namespace,
        labelSelector: labels.cluster,
        fieldSelector: `spec.nodeName=${name}`,
      });
      requests += 1 + items.length;
      for (const { metadata } of items) {
        const { uid = '', resourceVersion = '' } = metadata;
        const preconditions = { uid, resourceVersion };
        await kube.evict(namespace, metadata.name, { preconditions }).catch((error: unknown) => {
          if (!isReason(error, 'TooManyRequests') && !isReason(error, 'Conflict')) throw error;
        });
      }
      if (items.length > 0) await pause(100);
      return items.length === 0;
    },
    { within: 180 },
  );
  await cluster.node?.rebootNode(name);
  await until(`${name} is back`, async () => ![before, ''].includes(await bootOf()), { within: 60 });
  await kubectl(['uncordon', name]);
  return requests;
}
