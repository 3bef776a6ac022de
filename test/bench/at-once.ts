import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { type Kube, resources } from '../../reconcile/interfaces/kube.ts';
import { indexFor } from '../../reconcile/stepping/shard.ts';
import type { Kwok } from '../support/cluster/tools.ts';
import { untilConverged } from './converged.ts';
import { measure } from './measure.ts';
import { heapOfPod } from './pod-like.ts';
import type { Stage } from './stage.ts';
import { addStandIns } from './stand-ins/clusters.ts';
import { startStandIns } from './stand-ins/pods.ts';
import { aim } from './table.ts';

const shards = 12;
const perShard = 3;
/** Between two changes of a spec, in milliseconds. */
const betweenChanges = 1_000;

/** One namespace of each shard. */
const namespaces = [...Array(shards).keys()].map((index) => {
  const isIts = (n: number) => indexFor(`namespace team-${n}`, shards) === index;
  return `team-${[...Array(999).keys()].find(isIts) ?? assert.fail()}`;
});

/** A step as it stood in a cluster's status. */
interface Step {
  readonly holder: string;
  readonly startedAt: string;
  readonly deadline: string;
}

/**
 * Twelve shards, and beside them passes about everything, tick against one API server without a pause while specs
 * change. Prints how many steps they took, and how many of them began while another one was under way.
 */
export async function measureAtOnce(
  stage: Stage,
  { directory, kwok, minutes }: { readonly directory: string; readonly kwok: Kwok; readonly minutes: number },
): Promise<void> {
  await using standIns = await startStandIns(stage, directory, kwok);
  const { env } = standIns;
  const count = shards * perShard;
  await addStandIns(stage, { first: 0, count, namespaceOf: (n) => namespaces[n % shards] ?? assert.fail() });
  await untilConverged({ directory, env, options: heapOfPod }, count);
  const stop = new AbortController();
  using _ = { [Symbol.dispose]: () => stop.abort() };
  const seen = watchSteps(stage.kube, stop.signal);
  const over = performance.now() + minutes * 60_000;
  const isOver = () => performance.now() > over;
  let ticks = 0;
  const ticking = async (name: string, args: readonly string[]) => {
    for (let n = 0; !isOver(); n += 1) {
      const own = { ...env, POD_NAME: `${name}-${n}`, POD_UID: `${name}-${n}` };
      await measure(`${directory}/tick.js`, ['--output', 'json', ...args], own, heapOfPod);
      ticks += 1;
    }
  };
  await Promise.all([
    ...[...Array(shards).keys()].map((index) => ticking(`shard-${index}`, ['--shard', `${index}/${shards}`])),
    ticking('whole', []),
    changing(stage.kube, count, isOver),
  ]);
  await untilConverged({ directory, env, options: heapOfPod }, count);
  stop.abort();
  const { steps, doubled } = await seen;
  console.log(
    `${ticks} ticks of ${shards} shards, and of one without, took ${steps} steps in ${minutes} minutes; then all were as their specs said`,
  );
  console.log(aim('no step began while another one of its cluster was under way', doubled.length === 0));
  for (const one of doubled) console.log(`  ${one}`);
}

/** One spec after the other gets another value. */
async function changing(kube: Kube, count: number, isOver: () => boolean): Promise<void> {
  for (let n = 0; !isOver(); n += 1) {
    const metadata = { name: `orders-${n % count}`, namespace: namespaces[(n % count) % shards] ?? assert.fail() };
    const spec = { etcd: { snapshotCount: 5_000 + n } };
    const document = { apiVersion: resources.clusters.apiVersion, kind: resources.clusters.kind, metadata, spec };
    await kube.apply(resources.clusters, document, { fieldManager: 'bench' });
    await pause(betweenChanges);
  }
}

/** All states of all clusters, in their order, until it is stopped. */
async function watchSteps(
  kube: Kube,
  signal: AbortSignal,
): Promise<{ readonly steps: number; readonly doubled: readonly string[] }> {
  const { resourceVersion } = await kube.list<EtcdCluster>(resources.clusters, {});
  const last = new Map<string, Step>();
  const doubled: string[] = [];
  let [steps, from] = [0, resourceVersion];
  while (!signal.aborted) {
    for await (const { object } of kube.watch<EtcdCluster>(resources.clusters, { resourceVersion: from, signal })) {
      const { name, namespace, resourceVersion: at = from } = object.metadata;
      from = at;
      const [key, step, before] = [`${namespace}/${name}`, stepOf(object), last.get(`${namespace}/${name}`)];
      if (!step) last.delete(key);
      else if (step.holder !== before?.holder || step.startedAt !== before.startedAt) {
        steps += 1;
        if (before && step.startedAt < before.deadline)
          doubled.push(`${key}: ${step.holder} at ${step.startedAt}, beside ${before.holder} until ${before.deadline}`);
        last.set(key, step);
      }
    }
  }
  return { steps, doubled };
}

function stepOf({ status }: EtcdCluster): Step | undefined {
  const { step } = status ?? {};
  return step && { holder: step.holder.uid, startedAt: step.startedAt, deadline: step.deadline };
}
