import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { neededForNewCommit } from '../../reconcile/cluster/load-ahead.ts';
import { listApplied, listOthers } from '../../reconcile/fleet/objects.ts';
import { withInventory } from '../../reconcile/fleet/outcome.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import type { KindContext, Kinds } from '../../reconcile/stepping/kind.ts';
import { patiently, whileWaiting } from '../../reconcile/stepping/patience.ts';
import { listsOf } from '../../reconcile/stepping/run.ts';
import { createReader, type Reader } from '../read/reader.ts';
import { chosenClusters, chosenFleets } from './chosen.ts';
import { settledWithin, wasSilent } from './early.ts';
import { type FleetResult, passFleet, type World } from './fleet-pass.ts';
import { once } from './once.ts';
import type { PassContext } from './pass-context.ts';
import { secretsOnce } from './secrets-once.ts';
import { shareGit } from './shared-git.ts';
import { timeForGit } from './time-for-git.ts';

const patienceMs = 3_000;

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
}

/**
 * Lists fleets and clusters, and asks Git for each fleet, for as long as that is worth waiting for.
 *
 * @throws {KubeError} when they can't be listed: then no pass was made
 */
export async function readFleets(context: PassContext, table: Kinds): Promise<FleetsRead> {
  const { kube, namespace, signal, log } = context;
  const lists = listsOf(table, context);
  const [fleetList, clusterList] = await patiently({ log, until: whileWaiting(context) }, () =>
    Promise.all([kube.list<EtcdFleet>(resources.fleets, { namespace, signal }), lists.of<EtcdCluster>('cluster')]),
  );
  const others = once(() => listOthers(kube, namespace, signal));
  const applied = once(() => listApplied(kube, namespace, signal));
  const world: World = { fleets: fleetList.items, clusters: clusterList.items, others, applied };
  const chosen = chosenFleets(context, world.fleets, world.clusters);
  const gitMs = timeForGit(context.deadline, Date.now());
  const reader = readerFor(context);
  const git = shareGit(AbortSignal.any([signal, AbortSignal.timeout(gitMs)]), reader, log);
  const aboutFleets = { ...context, kube: secretsOnce(kube), reader };
  const running = chosen.map((fleet) => passFleet(fleet, world, { ...aboutFleets, gitMs, git }));
  const early = await settledWithin(running, (index) => !wasSilent(chosen[index] ?? {}), patienceMs);
  if (early.some(hasWritten)) lists.forget('cluster');
  const fleets = asLeft(world.fleets, early);
  return {
    context: aboutFleets,
    world,
    running,
    isLate: (result) => !early.includes(result) && hasWritten(result),
    stepping: { ...context, lists, fleets, chosen: (clusters) => chosenClusters(context, fleets, clusters) },
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
