import { abortAfter } from '../../manifests/abort-after.ts';
import { checkKeys, checkLabel } from '../../manifests/api/check-report.ts';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import { kubectlRatchet } from '../../manifests/render/kubectl.ts';
import type { PlanContext } from '../../reconcile/cluster/foresee/plan-clusters.ts';
import {
  isReason,
  type Kube,
  KubeError,
  type KubeObject,
  type LeftOut,
  type Resource,
  resources,
} from '../../reconcile/interfaces/kube.ts';
import { readOnly } from '../pass/read-only.ts';
import { createRoom, remembered } from '../serve/remembered.ts';
import { parseReport, type ShownReport } from './check-report.ts';
import type { PlanView } from './plan.ts';
import { isOutOfReach, nothingUnread, notingEtcd } from './unread.ts';

export interface LiveWorld {
  readonly fleets: readonly EtcdFleet[];
  readonly clusters: readonly EtcdCluster[];
  /** Of which neither is shown. */
  readonly leftOut: ReadonlyMap<string, LeftOut>;
}

/** What pages are made from. Reads, and writes nothing. */
export interface Reader {
  /** @throws {KubeError} */
  world(): Promise<LiveWorld>;
  /** Never throws for what can't be planned. */
  plan(cluster: EtcdCluster): Promise<PlanView>;
  /** Of this cluster. @throws {KubeError} */
  backups(cluster: EtcdCluster): Promise<readonly EtcdBackup[]>;
  /** Of this cluster. @throws {KubeError} */
  schedules(cluster: EtcdCluster): Promise<readonly EtcdBackupSchedule[]>;
  /** None for a page of one namespace: they belong to none. @throws {KubeError} */
  nodePolicies(): Promise<readonly EtcdNodePolicy[]>;
  /** Of this commit, kept in these namespaces. @throws {KubeError} */
  reports(namespaces: readonly string[], sha: string): Promise<readonly ShownReport[]>;
  /** Ask it after what is shown was read: until then, no answer of the API server has told its clock. */
  now(): Date;
}

export interface ReaderContext extends Omit<PlanContext, 'signal'> {
  /** One namespace only. */
  readonly namespace?: string | undefined;
  /** Milliseconds after which a plan is given up. */
  readonly planMs?: number;
}

/** Milliseconds: how old an answer may be, and how long it may take. */
const fresh = { world: 2_000, plan: 10_000, reports: 2_000, backups: 5_000 };
const patience = { world: 8_000, plan: 6_000, reports: 5_000, backups: 5_000 };
/** A plan takes a dozen lists and asks every member. */
const plansAtOnce = 3;
const most = 500;

/** Each look has an account of its own of what its lists hold: on that of the process they would add up for ever. */
export function createReader(context: ReaderContext): Reader {
  const { namespace } = context;
  const kube = readOnly(context.kube);
  const room = createRoom(plansAtOnce);
  const worlds = remembered(memory(fresh.world, 1), () => readWorld(kube, namespace));
  const reports = remembered(memory(fresh.reports, most), (_key, where: string, sha: string) =>
    readReports(kube, where, sha),
  );
  const backups = remembered(memory(fresh.backups, most), (where: string) =>
    readAllowed<EtcdBackup>(kube, resources.backups, where),
  );
  const schedules = remembered(memory(fresh.backups, most), (where: string) =>
    readAllowed<EtcdBackupSchedule>(kube, resources.schedules, where),
  );
  const policies = remembered(memory(fresh.backups, 1), () =>
    namespace === undefined
      ? readAllowed<EtcdNodePolicy>(kube, resources.nodePolicies, undefined)
      : Promise.resolve([]),
  );
  const plans = remembered(memory(fresh.plan, most), async (_key, cluster: EtcdCluster) => {
    const making = room(() => makePlan({ ...context, kube: kube.bounded() }, cluster));
    return making ?? noPlan(cluster, 'Other plans are being made.');
  });
  return {
    world: () => worlds.get(''),
    reports: async (namespaces, sha) =>
      (await Promise.all(namespaces.map((where) => reports.get(`${where}/${sha}`, where, sha)))).flat(),
    backups: async ({ metadata: { namespace: where = '', name } }) =>
      (await backups.get(where)).filter(({ spec }) => spec.clusterName === name),
    schedules: async ({ metadata: { namespace: where = '', name } }) =>
      (await schedules.get(where)).filter(({ spec }) => spec.template.clusterName === name),
    nodePolicies: () => policies.get(''),
    plan: (cluster) => {
      const { uid = '', resourceVersion = '' } = cluster.metadata;
      // A cluster that was changed is planned anew, however fresh the plan.
      return plans.get(`${uid}/${resourceVersion}`, cluster);
    },
    now: () => kube.now() ?? new Date(),
  };
}

/** A failure is kept as long as an answer: reloading the page does not ask more often. */
function memory(freshMs: number, entries: number) {
  return { freshMs, retryMs: freshMs, most: entries, clock: () => performance.now() };
}

async function readWorld(unbounded: Kube, namespace: string | undefined): Promise<LiveWorld> {
  const kube = unbounded.bounded();
  const options = { namespace, signal: abortAfter(patience.world) };
  const [fleets, clusters] = await Promise.all([
    kube.list<EtcdFleet>(resources.fleets, options),
    kube.list<EtcdCluster>(resources.clusters, options),
  ]);
  const leftOut = kube.leftOut();
  const isSeen = ({ metadata }: KubeObject) => !leftOut.has(metadata.namespace ?? '');
  return { fleets: fleets.items.filter(isSeen), clusters: clusters.items.filter(isSeen), leftOut };
}

async function readAllowed<T extends KubeObject>(
  kube: Kube,
  resource: Resource,
  namespace: string | undefined,
): Promise<readonly T[]> {
  try {
    const signal = abortAfter(patience.backups);
    return (await kube.bounded().list<T>(resource, { namespace, signal })).items;
  } catch (error) {
    // The page's rights end there, or the kind is not installed: as if there were none.
    if (isReason(error, 'Forbidden') || isReason(error, 'NotFound')) return [];
    throw error;
  }
}

async function readReports(kube: Kube, namespace: string, sha: string): Promise<readonly ShownReport[]> {
  try {
    const { items } = await kube.bounded().list<ConfigMap>(resources.configMaps, {
      namespace,
      labelSelector: `${checkLabel}=${sha}`,
      signal: abortAfter(patience.reports),
    });
    return items.flatMap(({ data }) => {
      const report = parseReport(data?.[checkKeys.json]);
      // Any writer of ConfigMaps can forge a report: it counts only for a fleet of this namespace and this commit.
      return report && report.fleet.namespace === namespace && report.head === sha ? [report] : [];
    });
  } catch (error) {
    // The page's rights end there: as if nothing were kept.
    if (isReason(error, 'Forbidden')) return [];
    throw error;
  }
}

async function makePlan(context: ReaderContext, cluster: EtcdCluster): Promise<PlanView> {
  const { planClusters } = await import('../../reconcile/cluster/foresee/plan-clusters.ts');
  const signal = abortAfter(context.planMs ?? patience.plan);
  const { namespace } = cluster.metadata;
  const unread = nothingUnread();
  const etcd: typeof context.etcd = async (...tls) => notingEtcd(await context.etcd(...tls), unread);
  try {
    const making = planClusters({ ...context, etcd, signal }, { namespace, intents: [{ kind: 'keep', cluster }] });
    const [plan] = (await inTime(making, signal)) ?? [];
    const [[endpoint, cause] = []] = unread.silent;
    if (endpoint !== undefined && isOutOfReach(cluster, unread))
      return noPlan(
        cluster,
        `etcd-ratchet reaches the members, and this page does not (${endpoint}: ${cause}): a plan from here would be wrong.`,
      );
    if (plan?.planned) return { kind: 'planned', planned: plan.planned };
    return noPlan(cluster, plan?.problem === undefined ? 'Making the plan took too long.' : `${plan.problem}.`);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.reason !== 'Forbidden') return noPlan(cluster, `${error.message}.`);
    return noPlan(cluster, 'This page may not read what a plan is made from: add the component page-plans.');
  }
}

function noPlan({ metadata: { namespace, name } }: EtcdCluster, message: string): PlanView {
  return { kind: 'none', message, command: kubectlRatchet(namespace ?? 'default', `plan ${name} --in-cluster`) };
}

/** Also where something under way does not listen to the signal. */
async function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const end = () => resolve(undefined);
  signal.addEventListener('abort', end);
  // The caller has given up: a later failure has no reader.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, over]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
