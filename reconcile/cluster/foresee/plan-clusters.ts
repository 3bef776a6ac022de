import { isDeepStrictEqual } from 'node:util';
import type { RightsChange } from '../../../manifests/api/check-report.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { type Kube, resources } from '../../interfaces/kube.ts';
import { type RefusedApproval, withoutRefused } from '../../objects/approvals.ts';
import { only } from '../../objects/list-in.ts';
import { inParallel } from '../../stepping/in-parallel.ts';
import type { EtcdWay } from '../etcd-way.ts';
import { rightsChanged } from '../know/auth/rights-changed.ts';
import type { Observation } from '../know/observation.ts';
import { failureOf } from '../know/outcome.ts';
import { withoutApprovals } from '../know/refused-approvals.ts';
import { situate } from '../know/situation.ts';
import type { Refusal } from '../know/spec/refusal.ts';
import { askAuth } from '../observe/ask-auth.ts';
import { type ObserveContext, observe } from '../observe/observe.ts';
import { type KnownFleets, knownFleets, readFourEyes } from '../observe/read-four-eyes.ts';
import { readNamedBackup } from '../observe/read-named-backup.ts';
import { readSnapshotClaims, readSnapshotOffers } from '../observe/read-snapshot-claims.ts';
import { type ClusterObjects, readObjects } from '../observe/snapshot.ts';
import { asCreated, type Desired, planChange, withDesired } from './change.ts';
import type { Plan } from './plan.ts';
import { riskOf } from './risk.ts';
import { changesOf, summaryOf } from './summary.ts';
import { type RefusedTemplate, tryMembers } from './try-members.ts';

/** A cluster that is to be planned, and what is to become of it. */
export type Intent =
  /** Nothing new is asked of it. */
  | { readonly kind: 'keep'; readonly cluster: EtcdCluster }
  /** `desired`: with the API's defaults. */
  | { readonly kind: 'update'; readonly cluster: EtcdCluster; readonly desired: Desired }
  | { readonly kind: 'create'; readonly cluster: EtcdCluster }
  | { readonly kind: 'delete'; readonly cluster: EtcdCluster };

export interface ClusterPlan {
  readonly namespace: string;
  readonly name: string;
  readonly intent: Intent['kind'];
  /** Absent where it could not be looked at: then `problem` says why. */
  readonly planned?: Pick<Plan, 'steps' | 'end'> & {
    /** One line. */
    readonly summary: string;
    /** Voters that are left meanwhile. */
    readonly risk?: string;
    readonly changes: readonly string[];
    /** Users of etcd for whom something changes. */
    readonly rights: readonly RightsChange[];
    /** What the new spec asks for and can't be had, unless the live one asks for it already. */
    readonly refusals: readonly Refusal[];
    /** It ends with a person, and would not without the change. */
    readonly needsPerson: boolean;
    /** What the API server does not take of its pods; asked by a check only. */
    readonly template?: RefusedTemplate;
  };
  readonly problem?: string;
}

export type PlanContext = Pick<
  ObserveContext,
  'kube' | 'etcd' | 'wire' | 'holder' | 'nonce' | 'nameAllowances' | 'egress'
> & {
  readonly signal: AbortSignal;
  /** Reads no Secret that only an unapplied spec names: its author may be untrusted. */
  readonly amongStrangers?: boolean;
  /** Has the API server try the pods that a changed spec asks for. */
  readonly dryRuns?: boolean;
  /** As listed, where they are: whose approvals count. */
  readonly fleets?: readonly EtcdFleet[];
  /** It goes on as if another person had approved. */
  readonly approved?: boolean;
};

/** Looked at at once. Each is mostly waiting. */
const parallel = 16;

/**
 * The steps to convergence of each of these clusters. Reads, and writes nothing.
 *
 * @throws {KubeError} when not even the lists could be read; what keeps one cluster from being looked at is in its
 * plan.
 */
export async function planClusters(
  context: PlanContext,
  { namespace, intents }: { readonly namespace?: string | undefined; readonly intents: readonly Intent[] },
): Promise<readonly ClusterPlan[]> {
  const { kube, signal } = context;
  const clusters = intents.map(({ kind, cluster }) => (kind === 'create' ? asCreated(cluster) : cluster));
  const objects = await readObjects(kube, clusters, { namespaces: only(namespace), signal });
  const waiting = intents.flatMap((intent, index) => {
    const found = objects[index];
    return found ? [{ intent, objects: found }] : [];
  });
  const fleets = knownFleets(kube, context.fleets ?? [], signal);
  const plans = await inParallel(waiting, parallel, (next) => planOne(context, { ...next, fleets }));
  return plans.toSorted((a, b) => `${a.namespace}/${a.name}`.localeCompare(`${b.namespace}/${b.name}`));
}

async function planOne(
  context: PlanContext,
  {
    intent,
    objects,
    fleets,
  }: { readonly intent: Intent; readonly objects: ClusterObjects; readonly fleets: KnownFleets },
): Promise<ClusterPlan> {
  const { namespace = '', name } = intent.cluster.metadata;
  const facts = { namespace, name, intent: intent.kind };
  const { signal } = context;
  try {
    const blind = context.amongStrangers && intent.kind === 'create';
    const kube = blind ? withoutSecrets(context.kube) : context.kube;
    const observed = await observe({ ...context, kube, thorough: true }, objects, context.signal);
    const fourEyes = context.approved
      ? { refused: [] }
      : await readFourEyes(objects.cluster, { fleets, unread: 'all' }, signal);
    const desired = desiredBy(intent, fourEyes.refused);
    const seen = withoutApprovals(observed.observation, fourEyes);
    const named = await withNamed(seen, desired, { kube, signal });
    const observation = await withUsers(named, desired, { etcd: observed.etcd, signal });
    const plan = planChange(observation, desired);
    const { steps, end } = plan;
    const changes = changesOf(observation, plan);
    const refusals = desired ? newRefusals(observation, desired, intent.kind) : [];
    const needsPerson = end.kind === 'refused' && !isRefusedAnyway(observation, intent, end.reason);
    const summary = summaryOf(observation, plan);
    const risk = riskOf(observation, steps, desired?.spec.replicas ?? 0);
    const template =
      context.dryRuns && desired && (await tryMembers(withDesired(observation, desired), { kube, signal }));
    return {
      ...facts,
      planned: {
        steps,
        end,
        summary,
        ...(risk !== undefined && { risk }),
        changes,
        rights: rightsChanged(observation, plan.outcome),
        refusals,
        needsPerson,
        ...(template && { template }),
      },
    };
  } catch (error) {
    return { ...facts, problem: failureOf(error).message };
  }
}

/** What the new spec names besides, and is looked at before anything is done with it. */
async function withNamed(
  observation: Observation,
  desired: Desired | undefined,
  { kube, signal }: Pick<PlanContext, 'kube' | 'signal'>,
): Promise<Observation> {
  if (!desired) return observation;
  const { cluster, slots, namedBackups = [] } = withDesired(observation, desired);
  const named = [...namedBackups, ...(await readNamedBackup(kube, { cluster, slots, namedBackups }, signal))];
  const seen = { cluster, slots, namedBackups: named };
  const [snapshotClaims, snapshotOffers] = await Promise.all([
    readSnapshotClaims(kube, seen, signal),
    readSnapshotOffers(kube, seen, signal),
  ]);
  return {
    ...observation,
    ...(named.length > 0 && { namedBackups: named }),
    ...(snapshotClaims.length > 0 && { snapshotClaims }),
    ...(snapshotOffers.length > 0 && { snapshotOffers }),
  };
}

/** Users that another spec asks for. Those that the live one asks for were looked at with the cluster. */
async function withUsers(
  observation: Observation,
  desired: Desired | undefined,
  { etcd, signal }: { readonly etcd: EtcdWay; readonly signal: AbortSignal },
): Promise<Observation> {
  const isLookedAt = observation.auth !== undefined && isDeepStrictEqual(desired?.spec, observation.cluster.spec);
  if (!desired?.spec.auth || isLookedAt) return observation;
  const { auth } = await askAuth(etcd, withDesired(observation, desired), { thorough: true, signal });
  return auth ? { ...observation, auth } : observation;
}

function newRefusals(observation: Observation, desired: Desired, kind: Intent['kind']): readonly Refusal[] {
  const before = kind === 'create' ? [] : situate(observation).effective.refusals;
  const after = situate(withDesired(observation, desired)).effective.refusals;
  return after.filter(({ field, message }) => !before.some((old) => old.field === field && old.message === message));
}

function isRefusedAnyway(observation: Observation, { kind, cluster }: Intent, reason: string): boolean {
  if (kind === 'create') return false;
  const { end } = planChange(observation, cluster);
  return end.kind === 'refused' && end.reason === reason;
}

function withoutSecrets(kube: Kube): Kube {
  return {
    ...kube,
    get: async (resource, ...rest) => (resource === resources.secrets ? undefined : kube.get(resource, ...rest)),
  };
}

function desiredBy(intent: Intent, refused: readonly RefusedApproval[]): Desired | undefined {
  switch (intent.kind) {
    case 'keep':
    case 'create':
      return withoutRefused(intent.cluster, refused);
    case 'update':
      return intent.desired;
    case 'delete':
      return undefined;
  }
}
