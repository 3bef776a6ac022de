import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { labels } from '../../manifests/render/names.ts';
import { type Wake, wakesOn } from '../../reconcile/cluster/know/decision.ts';
import type { ClusterResult } from '../../reconcile/cluster/result.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { type Kube, type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../log.ts';
import { type Changing, matterOf } from './matter.ts';

/** Waits for what decisions named, over several rounds: what happens during a round is not missed. */
export interface Waker {
  /** From here on, what happens counts as news. Call it before looking again. */
  forget(): void;
  /**
   * `<namespace>/<name>` of the clusters that woke, or that another invocation began to change; none when the time was
   * up first.
   *
   * @param least seconds before the clock alone may wake anything
   */
  wait(results: readonly ClusterResult[], until: AbortSignal, least?: number): Promise<ReadonlySet<string>>;
  close(): void;
}

interface WakerContext {
  readonly kube: Kube;
  /** Of a list made before the first round looked: nothing since then is missed. */
  readonly resourceVersion: string;
  readonly namespace?: string | undefined;
  readonly log: Log;
  /** Wake also for clusters that are not waited for here, when another invocation has begun to change them. */
  readonly others?: boolean;
}

/** Several changes come together, as a rule: three pods get ready within a moment. */
const gatherMs = 100;
/** Until a lost claim or a failed step is worth another look. */
const retrySeconds = 2;

/**
 * One watch per kind that is waited for, on objects with our label.
 *
 * All start from the resourceVersion of the clusters' list: an API server numbers what it stores in one sequence. Where
 * it does not (a kind in an etcd of its own), the watch fails or starts later, and the timer and the next tick remain.
 */
export function createWaker({ kube, resourceVersion, namespace, log, others = false }: WakerContext): Waker {
  const closing = new AbortController();
  const watched = new Set<Changing | 'clusters'>();
  const matters = new Map<string, string>();
  const news = new Set<string>();
  let heard = Promise.withResolvers<void>();

  /**
   * Adopt clusters that another invocation left unfinished: a running follow-up is the only one that goes on with them.
   */
  async function watchClusters(): Promise<void> {
    const options = { namespace, resourceVersion, signal: closing.signal };
    try {
      for await (const { type, object } of kube.watch<EtcdCluster>(resources.clusters, options)) {
        if (type !== 'DELETED' && isUnsettled(object)) tell('clusters', keyOf(object));
      }
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      log({ problem }, 'clusters cannot be watched: what else they need waits for the next tick');
    }
  }

  async function watch(kind: Changing): Promise<void> {
    const options = { namespace, labelSelector: labels.cluster, resourceVersion, signal: closing.signal };
    try {
      for await (const { type, object } of kube.watch<KubeObject>(resources[kind], options)) {
        const id = `${kind} ${object.metadata.uid}`;
        const matter = type === 'DELETED' ? 'gone' : matterOf(kind, object);
        // What is there from the start is no news unless it already is what one waits for.
        if (matter === (matters.get(id) ?? '')) continue;
        matters.set(id, matter);
        tell(kind, `${object.metadata.namespace}/${object.metadata.labels?.[labels.cluster]}`);
      }
    } catch (error) {
      // This promise is not awaited, so a rejection would end the whole process; and a watch only saves time.
      const problem = error instanceof Error ? error.message : String(error);
      log({ problem }, `${kind} cannot be watched; the timers go on`);
    }
    // The watch ended by itself: one look too many is better than a missed change.
    await pause(retrySeconds * 1000, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    watched.delete(kind);
    tell(kind, '*');
  }

  function tell(kind: Changing | 'clusters', cluster: string): void {
    news.add(`${kind} ${cluster}`);
    heard.resolve();
  }

  async function wait(results: readonly ClusterResult[], until: AbortSignal, least = 0): Promise<ReadonlySet<string>> {
    const waits = results.map((result) => ({
      key: `${result.namespace}/${result.name}`,
      wakes: wakesOf(result).map((wake) => notBefore(wake, least)),
    }));
    const startedAt = performance.now();
    if (others && !watched.has('clusters')) {
      watched.add('clusters');
      void watchClusters();
    }
    for (const { wakes } of waits) {
      for (const wake of wakes) {
        if (wake.on !== 'change' || watched.has(wake.of)) continue;
        watched.add(wake.of);
        void watch(wake.of);
      }
    }
    const wakesNow = (key: string, wake: Wake) =>
      wake.on === 'time'
        ? performance.now() - startedAt >= wake.afterSeconds * 1000
        : news.has(`${wake.of} ${key}`) || news.has(`${wake.of} *`);
    const awaited = new Set(waits.map(({ key }) => key));
    const begun = () =>
      [...news].flatMap((one) => (one.startsWith('clusters ') ? [one.slice('clusters '.length)] : []));
    const woken = () =>
      new Set([
        ...waits.filter(({ key, wakes }) => wakes.some((wake) => wakesNow(key, wake))).map(({ key }) => key),
        // Those that are awaited say themselves what for.
        ...begun().filter((key) => !awaited.has(key)),
      ]);

    const times = waits.flatMap(({ wakes }) =>
      wakes.flatMap((wake) => (wake.on === 'time' ? [wake.afterSeconds] : [])),
    );
    const timer = times.length > 0 ? Math.min(...times) * 1000 : undefined;
    while (!until.aborted) {
      const now = woken();
      if (now.size > 0) {
        await slept(gatherMs, until);
        return woken();
      }
      heard = Promise.withResolvers();
      const left = timer === undefined ? undefined : Math.max(1, timer - (performance.now() - startedAt));
      await firstOf(heard.promise, left, until);
    }
    return new Set();
  }

  return { forget: () => news.clear(), wait, close: () => closing.abort() };
}

/** Its spec is newer than its status, or its last step did not find it as it should be. */
function isUnsettled({ metadata, status }: EtcdCluster): boolean {
  return status?.observedGeneration !== metadata.generation || status?.lastDecision?.kind !== 'Done';
}

/** Resolves at the news, when the time is over, or when the wait is cancelled. */
async function firstOf(heard: Promise<void>, ms: number | undefined, until: AbortSignal): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, until]);
  const longest = 2 ** 31 - 1;
  await Promise.race([heard, slept(Math.min(ms ?? longest, longest), signal)]);
  over.abort();
}

async function slept(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

function notBefore(wake: Wake, least: number): Wake {
  return wake.on === 'time' ? { on: 'time', afterSeconds: Math.max(wake.afterSeconds, least) } : wake;
}

/** What is worth another look at this cluster. A lease that another invocation won is over soon. */
export function wakesOf({ decision, outcome }: ClusterResult): readonly Wake[] {
  if (outcome === 'lost' || outcome === 'failed') return [{ on: 'time', afterSeconds: retrySeconds }];
  return wakesOn(decision);
}
