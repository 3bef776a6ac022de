import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { neededForNewCommit } from '../../reconcile/cluster/load-ahead.ts';
import { listApplied, listOthers } from '../../reconcile/fleet/objects.ts';
import { withInventory } from '../../reconcile/fleet/outcome.ts';
import { pendingRecords } from '../../reconcile/fleet/pending-record.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../reconcile/objects/conditions.ts';
import type { KindContext, Kinds } from '../../reconcile/stepping/kind.ts';
import { patiently, whileWaiting } from '../../reconcile/stepping/patience.ts';
import { listsOf } from '../../reconcile/stepping/run.ts';
import { createReader, type Reader } from '../read/reader.ts';
import { chosenClusters, chosenFleets } from './chosen.ts';
import { type FleetResult, passFleet, type World } from './fleet-pass.ts';
import type { PassContext } from './pass-context.ts';
import { type Records, recordsFor, recordsFrom } from './pending-records.ts';
import { secretsOnce } from './secret.ts';
import { shareGit, timeForGit } from './shared-git.ts';

/** So long the steps of a pass wait for repositories: what is read later is stepped by the next pass. */
export const patienceMs = 3_000;

/** What a pass has learned and applied before it steps anything. */
export interface FleetsRead extends Disposable {
  /** Steps about fleets read each of their Secrets once, and share one reader. */
  readonly context: PassContext & { readonly reader: Reader };
  readonly world: World;
  /** Of the fleets that the invocation is about: also those that steps did not wait for. */
  readonly running: readonly Promise<FleetResult>[];
  /** Whether it has applied something that the steps of this pass have not seen. */
  readonly isLate: (result: FleetResult) => boolean;
  readonly stepping: KindContext;
  readonly records: Records | undefined;
}

/**
 * Lists fleets and clusters, and asks Git for each fleet, for as long as that is worth waiting for.
 * @throws {KubeError} when they can't be listed: then no pass was made
 */
export async function readFleets(context: PassContext, table: Kinds): Promise<FleetsRead> {
  const { kube, namespace, signal, log } = context;
  const records = recordsFor(context);
  const lists = listsOf(table, context, { [pendingRecords]: records.lister });
  const [fleetList, clusterList, care] = await patiently({ log, until: whileWaiting(context) }, () =>
    Promise.all([
      kube.list<EtcdFleet>(resources.fleets, { namespace, signal }),
      lists.of<EtcdCluster>('cluster'),
      context.care,
    ]),
  );
  const others = once(() => listOthers(kube, namespace, signal));
  const applied = once(() => listApplied(kube, namespace, signal));
  const world: World = { fleets: fleetList.items, clusters: clusterList.items, others, applied };
  const chosen = chosenFleets(context, world.fleets, world.clusters);
  const gitMs = timeForGit(context.deadline, Date.now());
  const reader = readerFor(context);
  const git = shareGit(abortAfter(gitMs, signal), reader, log);
  const aboutFleets = { ...context, kube: secretsOnce(kube), reader };
  const running = chosen.map((fleet) => passFleet(fleet, world, { ...aboutFleets, gitMs, git }));
  const early = await settledWithin(running, (index) => !wasSilent(chosen[index] ?? {}), patienceMs);
  if (early.some(hasWritten)) lists.forget('cluster');
  const fleets = asLeft(world.fleets, early);
  const asked = { ...context, ...care };
  const chosenOf = (clusters: readonly EtcdCluster[]) => chosenClusters(asked, fleets, clusters);
  // A shard lists only what belongs to its own clusters.
  const areListed = !context.shard && chosenOf(clusterList.items).length > 0;
  return {
    context: aboutFleets,
    world,
    running,
    isLate: (result) => !early.includes(result) && hasWritten(result),
    stepping: { ...asked, lists, fleets, chosen: chosenOf },
    records: records.home === undefined ? undefined : recordsFrom(records.home, lists, areListed),
    [Symbol.dispose]: () => {
      git[Symbol.dispose]();
      reader[Symbol.dispose]();
    },
  };
}

/** A shared reader outlives this pass, so the pass does not close it. */
function readerFor({ reader, loadAhead }: PassContext): Reader {
  if (reader) return { read: reader.read, merge: reader.merge, [Symbol.dispose]: () => undefined };
  return createReader({}, loadAhead && (() => neededForNewCommit.forEach(loadAhead)));
}

/** What a fleet has just applied is its own, although the list of fleets is from before. */
function asLeft(fleets: readonly EtcdFleet[], results: readonly FleetResult[]): readonly EtcdFleet[] {
  const left = new Map(
    results.flatMap((one) =>
      one.kind === 'done' ? [[one.fleet.metadata.uid, withInventory(one.fleet, one.outcome)] as const] : [],
    ),
  );
  return fleets.map((fleet) => left.get(fleet.metadata.uid) ?? fleet);
}

export function hasWritten(result: FleetResult): boolean {
  return result.kind === 'done' && (result.outcome.changed.size > 0 || result.outcome.pruned.length > 0);
}

/** The same answer for all who ask, asked for when the first one does. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}

/** Reasons of a repository that took its whole time last time. One that was refused, or refuses, answers at once. */
const silent = new Set(['Timeout', 'Aborted', 'TakesTooLong']);

/** Whether the last pass waited for this fleet's repository in vain: then the others do not wait for it again. */
function wasSilent({ status }: Pick<EtcdFleet, 'status'>): boolean {
  const source = conditionOf(status, 'SourceReady');
  return source?.status === 'False' && silent.has(source.reason);
}

/** Milliseconds that those who have settled wait for the others. */
const afterFirstMs = 750;

/**
 * Results that have settled once all that are worth waiting for have, or the time is over. A rejection reaches the
 * caller where all are awaited.
 * @param isWorthIt if none is worth it, all are: nothing else is waited for
 */
async function settledWithin<T>(
  promises: readonly Promise<T>[],
  isWorthIt: (index: number) => boolean,
  ms: number,
): Promise<readonly T[]> {
  const settled: T[] = [];
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  let isFirst = true;
  const soon: NodeJS.Timeout[] = [];
  const noted = promises.map(async (promise) => {
    settled.push(await promise);
    if (isFirst && promises.length > 1) soon.push(setTimeout(resolve, Math.min(ms, afterFirstMs)));
    isFirst = false;
  });
  const worth = noted.filter((_, index) => isWorthIt(index));
  const awaited = Promise.allSettled(worth.length > 0 ? worth : noted);
  for (const one of noted) one.catch(() => undefined); // what is not awaited here is awaited by the caller
  await Promise.race([awaited, over]);
  clearTimeout(timer);
  for (const one of soon) clearTimeout(one);
  return [...settled];
}
