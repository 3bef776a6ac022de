import { withDefaults } from '../../../manifests/api/defaults.ts';
import type { EtcdCluster, EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { Egress } from '../../../manifests/egress/egress.ts';
import type { PersistentVolumeClaim, Pod } from '../../../manifests/kube-types.ts';
import type { NameAllowance } from '../../../manifests/render/certificate-allowance.ts';
import { type ClusterPlan, type Intent, planClusters } from '../../../reconcile/cluster/foresee/plan-clusters.ts';
import type { ActionKind } from '../../../reconcile/cluster/know/action.ts';
import { stepClusters } from '../../../reconcile/cluster/pass.ts';
import type { ClusterResult } from '../../../reconcile/cluster/result.ts';
import type { AskHealth } from '../../../reconcile/cluster/step-context.ts';
import { KubeError, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube, type FakeKubeOptions, type FakeRequest } from '../fakes/kube.ts';
import { assertOthersServe } from './adoption-invariants.ts';
import {
  bindVolumes,
  collectGarbage,
  countDisruptions,
  dropVolumes,
  protect,
  runStatefulSets,
  schedule,
} from './controllers.ts';
import { etcdOf } from './etcd.ts';
import { assertOwnTemplate } from './hands-invariants.ts';
import { healthOf } from './health.ts';
import {
  assertEverybodyTalks,
  assertHistoryStays,
  assertLeadsNobody,
  assertMayDelete,
  assertMayLetIn,
  assertNoDowngrade,
  assertNotTheirs,
  assertOldQuorumStays,
  assertOneCluster,
  assertSeals,
} from './invariants.ts';
import { asInvocation, type Faults } from './invocation.ts';
import { runPods } from './kubelet.ts';
import { runJobs, runLogs, runRecoveries } from './recovery.ts';
import { replicate } from './replication.ts';
import { assertDataFirst, assertNotBeside, runRestores } from './restore.ts';
import type { Blocker, State, TrialEnd } from './state.ts';
import { copyOf, newState } from './state-copy.ts';
import { wireOf } from './wire.ts';

/**
 * A whole Kubernetes in memory, with etcd in its pods, a clock that a test turns, and eyes that see every violation.
 */

export const namespace = 'shop';
export const name = 'orders';

/** Its fields of {@link State} are as they were made: what is set anew (`watchful`, `skew`) is set in `state`. */
export interface World extends State {
  readonly state: State;
  readonly logged: string[];
  /** Plurals of what cannot be created; or verb and plural, like `GET secrets`. */
  readonly forbidden: Set<string>;
  /** What the API server answers to every write of an action of this kind. */
  readonly refusing: Map<ActionKind, Error>;
  /** As the fleet would: creates it, or changes its spec. */
  apply(changes?: Partial<EtcdClusterSpec>): Promise<void>;
  remove(): Promise<void>;
  /** What would be done if this were applied (`delete`: if it were deleted) now. Dies of any write. */
  plan(
    changes: Partial<EtcdClusterSpec> | 'delete' | 'keep',
    options?: Pick<TickOptions, 'nameAllowances'>,
  ): Promise<ClusterPlan>;
  /** One invocation, from its first LIST to its end. `undefined`: it died on the way, or could not begin. */
  tick(faults?: Faults, options?: TickOptions): Promise<ClusterResult | undefined>;
  /** Every controller takes one small step. */
  round(): void;
  /** Until nothing moves by itself any more. */
  settle(): void;
  advance(seconds: number): void;
  /** Empties a disk under its running member. */
  wipe(volume: string): void;
  /** The container ends; the kubelet will start it again. */
  kill(pod: string): void;
  /** The node of this pod is dead: Kubernetes marks its pod for deletion, and nothing carries that out. */
  loseNode(pod: string): void;
  /** A person deletes the lease of a volume, and the pod that had it open. */
  loseVolume(volume: string): void;
  /** etcd dies of how a pod is made from now on. */
  dieWhen(is: (pod: Pod) => boolean): void;
  /** What pods are held up by from now on. */
  holdUp(by: (pod: Pod) => Blocker | undefined): void;
  /** How the etcd of a rollback's Job does from now on. */
  tryOut(end: (pod: Pod) => TrialEnd): void;
  /** Looks at a cluster at rest are skipped from now on, as in an installation; until then each is a full one. */
  skipLooks(healthIn?: (state: State) => AskHealth): void;
  /** As a backup tool restores it: the same object, without its status. */
  dropStatus(): void;
  /**
   * Another world in which everything was the same until now; from now on each goes its own way. Not while an
   * invocation is under way: it would go on in this one alone.
   */
  fork(): World;
  now(): number;
  cluster(): EtcdCluster | undefined;
  claims(): readonly PersistentVolumeClaim[];
}

export interface TickOptions {
  readonly dryRun?: boolean;
  /** What the installation lets issuers be asked for. */
  readonly nameAllowances?: readonly NameAllowance[];
  /** What it lets authors name. */
  readonly egress?: Egress;
  /** As where a person or an event names it. */
  readonly inFull?: boolean;
  /** Clusters that are only listed, and the fleets whose room they take. */
  readonly beside?: { readonly clusters: readonly EtcdCluster[]; readonly fleets: readonly EtcdFleet[] };
}

/** What a fork of a world goes on from. */
interface Past {
  readonly time: number;
  readonly invocations: number;
  readonly nonces: number;
  readonly quietAt: number;
  readonly skips: ((state: State) => AskHealth) | undefined;
  readonly logged: readonly string[];
  readonly forbidden: ReadonlySet<string>;
  readonly refusing: ReadonlyMap<ActionKind, Error>;
  readonly state: State;
}

export function createWorld(past?: Past): World {
  let time = past?.time ?? Date.parse('2026-01-02T03:04:05Z');
  let invocations = past?.invocations ?? 0;
  let nonces = past?.nonces ?? 0;
  /** When controllers have nothing to do, they look again only after something has changed. */
  let quietAt = past?.quietAt ?? -1;
  let skips = past?.skips;
  const logged = [...(past?.logged ?? [])];
  const forbidden = new Set(past?.forbidden);
  const refusing = new Map(past?.refusing);
  const targets = new WeakMap<FakeRequest, KubeObject>();
  const options: FakeKubeOptions = {
    clock: () => new Date(time),
    before,
    after,
    authorize: ({ verb, resource }) =>
      !forbidden.has(`${verb} ${resource.plural}`) && (verb !== 'POST' || !forbidden.has(resource.plural)),
  };
  const store = past?.state.kube.fork(options) ?? createFakeKube(options);
  const kube: FakeKube = {
    ...store,
    seed: (resource, ...objects) => {
      state.changes += 1;
      store.seed(resource, ...objects);
    },
    remove: (...place) => {
      state.changes += 1;
      store.remove(...place);
    },
  };
  const clock = () => time;
  const state = past ? copyOf(past.state, { kube, clock }) : newState({ kube, clock });

  return {
    ...state,
    state,
    logged,
    forbidden,
    refusing,
    apply,
    remove,
    plan,
    tick,
    round,
    settle,
    advance,
    wipe,
    kill,
    loseNode,
    loseVolume,
    dieWhen,
    holdUp,
    tryOut,
    skipLooks: (healthIn = healthOf) => {
      skips = healthIn;
    },
    dropStatus,
    fork,
    now: () => time,
    cluster,
    claims,
  };

  function fork(): World {
    return createWorld({ time, invocations, nonces, quietAt, skips, logged, forbidden, refusing, state });
  }

  async function apply(changes: Partial<EtcdClusterSpec> = {}): Promise<void> {
    const found = cluster();
    const wanted = desired(changes);
    if (found) await kube.update<EtcdCluster>(resources.clusters, { ...found, spec: wanted.spec });
    else await kube.create<EtcdCluster>(resources.clusters, wanted);
  }

  function desired(changes: Partial<EtcdClusterSpec>): EtcdCluster {
    const spec = {
      replicas: 3,
      version: '3.6.16',
      storage: { size: '1Gi' },
      tls: { mode: 'Disabled' as const },
      ...changes,
    };
    return withDefaults({
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name, namespace },
      spec,
    });
  }

  async function plan(
    changes: Partial<EtcdClusterSpec> | 'delete' | 'keep',
    { nameAllowances = [] }: Pick<TickOptions, 'nameAllowances'> = {},
  ): Promise<ClusterPlan> {
    const reader = asInvocation(kube, {
      before: () => {
        throw new Error('a plan writes');
      },
    });
    const [planned] = await planClusters(
      {
        kube: reader,
        etcd: async (tls) => reader.etcd(etcdOf(state, tls)),
        wire: wireOf(state),
        holder: { pod: 'etcd-ratchet/plan', uid: 'plan' },
        nonce,
        nameAllowances,
        signal: AbortSignal.timeout(60_000),
      },
      { namespace, intents: [intentFor(changes)] },
    );
    if (!planned) throw new Error('nothing was planned');
    return planned;
  }

  function intentFor(changes: Partial<EtcdClusterSpec> | 'delete' | 'keep'): Intent {
    const found = cluster();
    if (!found) return { kind: 'create', cluster: desired(typeof changes === 'string' ? {} : changes) };
    if (typeof changes === 'string') return { kind: changes, cluster: found };
    return { kind: 'update', cluster: found, desired: desired(changes) };
  }

  async function remove(): Promise<void> {
    const uid = cluster()?.metadata.uid;
    if (uid) await kube.delete(resources.clusters, namespace, name, { preconditions: { uid } });
  }

  function dropStatus(): void {
    const { status: _, ...rest } = cluster() ?? {};
    if ('metadata' in rest) kube.seed(resources.clusters, rest as EtcdCluster);
  }

  async function tick(
    faults: Faults = {},
    { dryRun = false, nameAllowances = [], egress, inFull = false, beside }: TickOptions = {},
  ): Promise<ClusterResult | undefined> {
    invocations += 1;
    const holder = { pod: `etcd-ratchet/tick-${invocations}`, uid: `tick-${invocations}` };
    const mine = asInvocation(kube, faults);
    try {
      const { items } = await mine.list<EtcdCluster>(resources.clusters, { namespace });
      const results = await stepClusters(
        {
          kube: mine,
          etcd: async (tls) => mine.etcd(etcdOf(state, tls)),
          wire: wireOf(state),
          ...(skips && { health: skips(state) }),
          holder,
          nonce,
          log: (fields, message) => logged.push(`${message} ${JSON.stringify(fields)}`),
          dryRun,
          nameAllowances,
          ...(egress && { egress }),
          signal: AbortSignal.timeout(60_000),
        },
        {
          namespaces: [namespace],
          clusters: items,
          inFull,
          ...(beside && { all: [...items, ...beside.clusters], fleets: beside.fleets }),
        },
      );
      return results[0];
    } catch (error) {
      if (error instanceof KubeError) return undefined;
      throw error;
    }
  }

  function nonce(): string {
    nonces += 1;
    return `${String(nonces).padStart(8, '0')}`.padEnd(32, 'f');
  }

  function round(): void {
    if (state.changes === quietAt) return;
    const before = state.changes;
    collectGarbage(state);
    protect(state);
    runStatefulSets(state);
    runJobs(state);
    bindVolumes(state);
    dropVolumes(state);
    schedule(state);
    runPods(state);
    runRecoveries(state);
    runLogs(state);
    runRestores(state);
    countDisruptions(state);
    replicate(state);
    assertOneCluster(state);
    assertNoDowngrade(state);
    assertOldQuorumStays(state);
    assertNotBeside(state);
    assertOthersServe(state);
    if (state.watchful) assertEverybodyTalks(state);
    if (state.changes === before) quietAt = before;
  }

  function settle(): void {
    for (let rounds = 0; rounds < 30; rounds += 1) {
      const before = state.changes;
      round();
      if (before === state.changes) return;
    }
  }

  function advance(seconds: number): void {
    time += seconds * 1000;
  }

  function wipe(volume: string): void {
    const claim = claims().find(({ metadata }) => metadata.name === volume);
    state.disks.delete(claim?.metadata.uid ?? '');
    kill(`${volume}-0`);
  }

  function kill(pod: string): void {
    const found = kube.stored<Pod>(resources.pods).find(({ metadata }) => metadata.name === pod);
    state.processes.delete(found?.metadata.uid ?? '');
    state.changes += 1;
  }

  function loseNode(pod: string): void {
    const found = kube.stored<Pod>(resources.pods).find(({ metadata }) => metadata.name === pod);
    if (!found) return;
    const nodeName = `dead-${pod}`;
    state.deadNodes.add(nodeName);
    state.processes.delete(found.metadata.uid ?? '');
    const metadata = { ...found.metadata, deletionTimestamp: new Date(time).toISOString() };
    const conditions = [{ type: 'Ready', status: 'False' }];
    const status = { ...found.status, conditions } as NonNullable<Pod['status']>;
    kube.seed(resources.pods, { ...found, metadata, spec: { ...found.spec, nodeName }, status });
    state.changes += 1;
  }

  function loseVolume(volume: string): void {
    const claim = claims().find(({ metadata }) => metadata.name === volume);
    if (claim) kube.remove(resources.volumeClaims, namespace, volume);
    state.disks.delete(claim?.metadata.uid ?? '');
    kill(`${volume}-0`);
    kube.remove(resources.pods, namespace, `${volume}-0`);
  }

  function dieWhen(is: (pod: Pod) => boolean): void {
    state.deadly.is = is;
    state.changes += 1;
  }

  function tryOut(end: (pod: Pod) => TrialEnd): void {
    state.trials.end = end;
  }

  function holdUp(by: (pod: Pod) => Blocker | undefined): void {
    state.heldUp.by = by;
    state.changes += 1;
  }

  function cluster(): EtcdCluster | undefined {
    return kube.stored<EtcdCluster>(resources.clusters).find(({ metadata }) => metadata.name === name);
  }

  function claims(): readonly PersistentVolumeClaim[] {
    return kube.stored<PersistentVolumeClaim>(resources.volumeClaims);
  }

  function before(request: FakeRequest): void {
    // Time passes for the others while somebody polls.
    if (request.verb === 'GET' && ['persistentvolumeclaims', 'statefulsets'].includes(request.resource.plural)) round();
    refuseAction(request);
    if (request.verb !== 'DELETE' && request.verb !== 'PUT' && request.key !== 'POST pods/eviction') return;
    const target = kube
      .stored(request.resource)
      .find(({ metadata }) => metadata.name === request.name && metadata.namespace === request.namespace);
    if (target) targets.set(request, target);
    if (request.key === 'PUT persistentvolumeclaims')
      refuseGrowth(request, target as PersistentVolumeClaim | undefined);
  }

  function after(request: FakeRequest): void {
    if (request.dryRun) return;
    if (request.verb !== 'GET' && request.verb !== 'LIST') state.changes += 1;
    if (request.verb === 'POST' && request.resource.plural === 'persistentvolumeclaims') protect(state);
    assertNotTheirs(state, request, targets.get(request));
    // Judged by what took effect: what its preconditions refuse, as of an invocation that slept, does no harm.
    if (request.key === 'POST pods/eviction' || request.key === 'DELETE pods') {
      assertLeadsNobody(state, targets.get(request));
      assertOwnTemplate(state, targets.get(request));
    }
    if (request.verb === 'DELETE') {
      assertMayDelete(state, request, targets.get(request));
      assertDataFirst(state, request, targets.get(request));
    }
    if (request.key === 'PUT persistentvolumeclaims' || request.resource.plural === 'configmaps') assertSeals(state);
    if (request.key === 'POST services') {
      assertOneCluster(state);
      assertMayLetIn(state, request.body);
    }
    if (request.key === 'PUT etcdclusters/status') assertHistoryStays(state, targets.get(request), writtenBy(request));
  }

  function writtenBy({ resource, name: written }: FakeRequest): KubeObject | undefined {
    return kube.stored(resource).find(({ metadata }) => metadata.name === written);
  }

  /** Leases, reports and events are no part of the action. */
  function refuseAction({ verb, key, resource }: FakeRequest): void {
    if (refusing.size === 0 || verb === 'GET' || verb === 'LIST') return;
    if (key.endsWith('/status') || resource.plural === 'events') return;
    const refusal = refusing.get(cluster()?.status?.step?.action as ActionKind);
    if (refusal) throw refusal;
  }

  function refuseGrowth({ body }: FakeRequest, found: PersistentVolumeClaim | undefined): void {
    const wanted = body as PersistentVolumeClaim | undefined;
    const grows = state.classes.get(found?.spec.storageClassName ?? '')?.grows;
    const same = wanted?.spec.resources.requests?.storage === found?.spec.resources.requests?.storage;
    if (grows || same) return;
    throw new KubeError('PUT persistentvolumeclaims: 403 Forbidden only dynamically provisioned pvc can be resized', {
      class: 'terminal',
      status: 403,
      reason: 'Forbidden',
    });
  }
}
