import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { backupLister } from '../../reconcile/backup/list.ts';
import type { BackupResult } from '../../reconcile/backup/step.ts';
import type { ClusterResult } from '../../reconcile/cluster/result.ts';
import { listApplied, listOthers } from '../../reconcile/fleet/objects.ts';
import { withInventory } from '../../reconcile/fleet/outcome.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isTrue } from '../../reconcile/objects/conditions.ts';
import { earliest } from '../../reconcile/time/later-look.ts';
import { areChecked, areLeftOver } from '../checks/branch.ts';
import { createReader, type Reader } from '../read/reader.ts';
import { stepBackupsAndWait } from './backups.ts';
import { chosenClusters, chosenFleets } from './chosen.ts';
import { settledWithin, wasSilent } from './early.ts';
import { type FleetResult, passFleet, type World } from './fleet-pass.ts';
import { listClusters } from './list-clusters.ts';
import { neededForNewCommit } from './load-ahead.ts';
import { isUnderWay, nextBackupLook } from './next-look.ts';
import { nextNodeLook, stepNodesAndWait } from './nodes.ts';
import { once } from './once.ts';
import type { PassContext, PassNews, PassResult } from './pass-context.ts';
import { patiently, whileWaiting } from './patience.ts';
import { reportFleet } from './report-fleet.ts';
import { secretsOnce } from './secrets-once.ts';
import { shareGit } from './shared-git.ts';
import { stepAndWait } from './step-and-wait.ts';
import { stepAllRestores } from './step-restores.ts';
import { stepAllSchedules } from './step-schedules.ts';
import { timeForGit } from './time-for-git.ts';

const patienceMs = 3_000;
/** What a dead forge may cost. */
const forgeMs = 8_000;

/**
 * One pass: what Git says is applied, every cluster gets one step, the fleets and forges are told.
 *
 * @throws {KubeError} when fleets, clusters or what they consist of can't be listed: then no pass was made
 */
export async function pass(context: PassContext): Promise<PassResult> {
  const { kube, namespace, signal } = context;
  const [fleetList, clusterList] = await listedFor(context);
  const others = once(() => listOthers(kube, namespace, signal));
  const applied = () => listApplied(kube, namespace, signal);
  const world: World = { fleets: fleetList.items, clusters: clusterList.items, others, applied: once(applied) };
  const chosen = chosenFleets(context, world.fleets, world.clusters);
  const gitMs = timeForGit(context.deadline, Date.now());
  using reader = readerFor(context);
  using git = shareGit(AbortSignal.any([signal, AbortSignal.timeout(gitMs)]), reader, context.log);
  const aboutFleets = { ...context, kube: secretsOnce(kube), reader };
  const running = chosen.map((fleet) => passFleet(fleet, world, { ...aboutFleets, gitMs, git }));
  const early = await settledWithin(running, (index) => !wasSilent(chosen[index] ?? {}), patienceMs);
  // Before the clusters: the one that a restore makes has its first step in this pass.
  const list = backupLister(context);
  const restores = await stepAllRestores(context, { clusters: world.clusters, list });
  const isNew = restores.made || early.some(hasWritten);
  const clusters = isNew ? await listClusters(kube, namespace, signal) : world.clusters;
  const fleetsNow = asLeft(world.fleets, early);
  const scope = { clusters: chosenClusters(context, fleetsNow, clusters), all: clusters, fleets: fleetsNow };
  // Where clusters need another step, the next link of the chain goes on with all: it waits for no backup's Job.
  const goesOn = new AbortController();
  const firstSteps = Promise.withResolvers<void>();
  const clustersStepped = stepAndWait(context, scope, clusterList.resourceVersion, firstSteps.resolve)
    .finally(firstSteps.resolve)
    .then((one) => {
      if (one.results.some(hasWork)) goesOn.abort();
      return one;
    });
  // In this order: what a schedule has just made is begun at once.
  const backupsStepped = stepAllSchedules(context, list).then(async ({ listed, schedules, nextAt }) => {
    const results = await stepBackupsAndWait({ ...context, list }, listed, clusters, goesOn.signal);
    return { results, schedules, nextLook: earliest(nextAt, nextBackupLook(results, kube.now() ?? new Date())) };
  });
  // After the first steps of the clusters: whether a node may go is seen as those left them.
  const nodesStepped = firstSteps.promise.then(() => stepNodesAndWait(context, goesOn.signal));
  // Once more after them: what a restore says of its cluster is as the steps of this pass left it, and a backup that
  // became Ready meanwhile is restored from at once.
  const taken = restores.awaits ? backupsStepped.then(({ results }) => results.some(isReady)) : false;
  const restoresAgain = Promise.all([taken, clustersStepped]).then(([hasTaken]) =>
    restores.open || hasTaken ? stepAllRestores(context, { clusters, list }) : restores,
  );
  const [stepped, { results: backups, schedules, nextLook: backupLook }, restoresLeft, nodes] = await Promise.all([
    clustersStepped,
    backupsStepped,
    restoresAgain,
    nodesStepped,
  ]);
  const nextLook = earliest(backupLook, nextNodeLook(nodes));
  const hasMade = restores.made || restoresLeft.made;

  const isLate = (result: FleetResult) => !early.includes(result) && hasWritten(result);
  // Report each fleet independently: a dead repository or forge delays only its own fleet's news.
  const told = running.map(async (one) => {
    const result = await one;
    const listed = isLate(result) ? await listClusters(kube, namespace, signal) : clusters;
    const left = merged(listed, stepped.results);
    const now = hasWritten(result) ? { ...world, clusters: left, applied } : { ...world, clusters: left };
    return { passed: await reported(aboutFleets, result, now), left };
  });
  const goneOn = Promise.all(told).then(async (all): Promise<PassNews> => {
    const results = all.map(({ passed }) => passed.result);
    const late = results.some(isLate);
    const news = {
      clusters: stepped.results,
      backups,
      ...(nodes.length > 0 && { nodes }),
      ...(nextLook && { nextLook }),
      workRemains:
        late || hasMade || [...stepped.results, ...backups, ...nodes].some(hasWork) || results.some(needsRetry),
      moved:
        hasMade ||
        results.some(hasWritten) ||
        stepped.moved ||
        [...backups, ...nodes].some(({ outcome }) => outcome === 'acted'),
      unsettled: results.some(needsRetry) || stepped.results.some(isUnsettled),
    };
    await context.onNews?.(news);
    return news;
  });
  const checks = told.map(async (one) => {
    const { passed, left } = await one;
    return checked(aboutFleets, passed, { fleets: world.fleets, clusters: left });
  });
  const [news, fleets] = await Promise.all([goneOn, Promise.all(checks)]);
  return { fleets, ...news, ...(schedules && { schedules }) };
}

/** One that others use as well outlives this pass. */
function readerFor({ reader, loadAhead }: PassContext): Reader {
  if (reader) return { read: reader.read, merge: reader.merge, [Symbol.dispose]: () => undefined };
  return createReader({}, loadAhead && (() => neededForNewCommit.forEach(loadAhead)));
}

/** An invocation that waits anyway asks again: a chain of follow-ups does not end with one list without an answer. */
function listedFor(context: PassContext) {
  const { kube, namespace, signal, log } = context;
  return patiently({ log, until: whileWaiting(context) }, () =>
    Promise.all([
      kube.list<EtcdFleet>(resources.fleets, { namespace, signal }),
      kube.list<EtcdCluster>(resources.clusters, { namespace, signal }),
    ]),
  );
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

type FleetPassed = PassResult['fleets'][number];

async function reported(
  { kube, log, dryRun, followUp, deadline, links }: PassContext,
  result: FleetResult,
  { fleets, clusters, applied }: World,
): Promise<FleetPassed> {
  if (dryRun || result.kind === 'left') return { fleet: result.fleet, result };
  // What was done is worth saying also when the time for doing is over.
  const left = Math.max(deadline - Date.now(), 3_000);
  const signal = AbortSignal.timeout(left);
  const forgeDeadline = Date.now() + Math.min(forgeMs, left - 2_000);
  const always = !followUp;
  const told = { kube, log, signal, forgeDeadline, always, fleets, links, ...(applied && { applied }) };
  const fleet = await reportFleet(result, clusters, told);
  return { fleet, result };
}

/**
 * Only ticks check requests, after everything else: a roll-out waits for no request. Loaded only where a fleet asks for
 * checks.
 */
async function checked(
  context: PassContext & { readonly reader: Reader },
  passed: FleetPassed,
  world: World,
): Promise<FleetPassed> {
  if (context.dryRun || context.followUp || context.clusters.length > 0 || context.signal.aborted) return passed;
  if (!areChecked(passed.fleet) && !areLeftOver(passed.fleet)) return passed;
  const { checkRequests } = await import('../checks/check-pass.ts');
  return checkRequests(passed, world, context);
}

function hasWritten(result: FleetResult): boolean {
  return result.kind === 'done' && (result.outcome.changed.size > 0 || result.outcome.pruned.length > 0);
}

function hasWork({ workRemains }: { readonly workRemains: boolean }): boolean {
  return workRemains;
}

function isReady({ backup }: BackupResult): boolean {
  return isTrue(backup.status, 'Ready');
}

function isUnsettled(result: ClusterResult): boolean {
  return result.workRemains && (result.outcome === 'failed' || isUnderWay(result));
}

function needsRetry(result: FleetResult): boolean {
  return result.kind === 'done' && result.outcome.retries.length > 0;
}

/** The clusters as this pass left them. */
function merged(listed: readonly EtcdCluster[], results: readonly ClusterResult[]): readonly EtcdCluster[] {
  const stepped = new Map(results.map((result) => [result.cluster.metadata.uid, result.cluster]));
  return listed.map((cluster) => {
    const left = stepped.get(cluster.metadata.uid);
    // Changed since it was stepped: what the step reported is about an older spec.
    return left && left.metadata.generation === cluster.metadata.generation ? left : cluster;
  });
}
