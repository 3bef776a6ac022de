import { isDeepStrictEqual } from 'node:util';
import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { type ClusterPlan, type Intent, planClusters } from '../../reconcile/cluster/foresee/plan-clusters.ts';
import { foreseenSpec } from '../../reconcile/fleet/foreseen.ts';
import { fieldManager, keyOf } from '../../reconcile/fleet/names.ts';
import type { FleetObject } from '../../reconcile/fleet/objects.ts';
import type { FleetPlan, PlannedApply } from '../../reconcile/fleet/plan.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { kinds } from '../../reconcile/kinds.ts';
import { isStepped, type Kinds, type Plan } from '../../reconcile/stepping/kind.ts';
import { createReader } from '../read/reader.ts';
import { chosenClusters, chosenFleets } from './chosen.ts';
import { type FleetResult, passFleet, type World } from './fleet-pass.ts';
import type { PassContext } from './pass-context.ts';
import { readOnly } from './read-only.ts';
import { shareGit, timeForGit } from './shared-git.ts';

export type PlanPassContext = Omit<PassContext, 'dryRun' | 'followUp' | 'waitMs'>;

export interface PlanPassResult {
  readonly fleets: readonly { readonly fleet: EtcdFleet; readonly result: FleetResult }[];
  readonly clusters: readonly ClusterPlan[];
  /** Of other kinds, by their names in the table. */
  readonly others: Readonly<Record<string, readonly Plan[]>>;
}

/**
 * What would be done for every cluster if Git were applied now. Writes nothing: not even a lease or a status.
 * @throws {KubeError} when fleets, clusters or what they consist of can't be listed
 */
export async function planPass(context: PlanPassContext, table: Kinds = kinds): Promise<PlanPassResult> {
  const { namespace, signal } = context;
  const kube = readOnly(context.kube);
  const [fleetList, clusterList] = await Promise.all([
    kube.list<EtcdFleet>(resources.fleets, { namespace, signal }),
    kube.list<EtcdCluster>(resources.clusters, { namespace, signal }),
  ]);
  const world: World = { fleets: fleetList.items, clusters: clusterList.items };
  const gitMs = timeForGit(context.deadline, Date.now());
  using reader = createReader();
  using git = shareGit(abortAfter(gitMs, signal), reader, context.log);
  const looking = { ...context, kube, dryRun: true, followUp: false, gitMs, git, reader };
  const fleets = await Promise.all(
    chosenFleets(context, world.fleets, world.clusters).map(async (fleet) => ({
      fleet,
      result: await passFleet(fleet, world, looking),
    })),
  );
  const kept = chosenClusters(context, world.fleets, world.clusters);
  const asked = await intentsOf(fleets.map(({ result }) => result));
  const intents = new Map<string, Intent>(kept.map((cluster) => [keyOf(cluster), { kind: 'keep', cluster }]));
  for (const intent of asked) intents.set(keyOf(intent.cluster), intent);
  const clusters = await planClusters(
    { ...context, kube, fleets: world.fleets },
    { namespace, intents: [...intents.values()] },
  );
  return {
    fleets,
    clusters,
    others: await othersPlanned(table, { ...context, kube }, plansOf(fleets.map(({ result }) => result))),
  };
}

async function othersPlanned(table: Kinds, context: PlanPassContext, asked: readonly FleetPlan[]) {
  const planned = Object.entries(table).map(async ([name, kind]) => {
    const isOurs = isStepped(kind, { ...context, dryRun: true, waitMs: 0 });
    return [name, isOurs ? ((await kind.plan?.(context, asked)) ?? []) : []] as const;
  });
  return Object.fromEntries(await Promise.all(planned));
}

function plansOf(results: readonly FleetResult[]): readonly FleetPlan[] {
  return results.flatMap((result) => (result.kind === 'done' && result.asked ? [result.asked] : []));
}

async function intentsOf(results: readonly FleetResult[]): Promise<readonly Intent[]> {
  const intents = results.map(async (result) =>
    result.kind === 'done' && result.asked ? await intentsFor(result.fleet, result.asked) : [],
  );
  return (await Promise.all(intents)).flat();
}

/** @param answers what would be live by the dry runs that were made; of all others, as the owners of fields tell it */
export async function intentsFor(
  fleet: EtcdFleet,
  { applies, prune }: Pick<FleetPlan, 'applies' | 'prune'>,
  answers: ReadonlyMap<PlannedApply, FleetObject> = new Map(),
): Promise<readonly Intent[]> {
  if (applies.length + prune.length === 0) return [];
  const { withDefaults } = await import('../../manifests/api/defaults.ts');
  return [
    ...applies.flatMap((apply) => intentOf(apply, fieldManager(fleet), answers.get(apply), withDefaults)),
    ...prune.flatMap((object): readonly Intent[] =>
      object.kind === 'EtcdCluster' ? [{ kind: 'delete', cluster: object }] : [],
    ),
  ];
}

function intentOf(
  apply: PlannedApply,
  manager: string,
  answer: FleetObject | undefined,
  withDefaults: (cluster: EtcdCluster) => EtcdCluster,
): readonly Intent[] {
  if (apply.kind === 'settled' || apply.spec.kind !== 'EtcdCluster') return [];
  const { object, namespace } = apply.spec;
  // `findSpecs` has validated it.
  const spec = (answer ?? { spec: foreseenSpec(apply, manager) }).spec as EtcdCluster['spec'];
  const desired = withDefaults({ ...(object as EtcdCluster), metadata: { ...object.metadata, namespace }, spec });
  if (apply.kind === 'create') return [{ kind: 'create', cluster: desired }];
  const { live } = apply;
  if (live.kind !== 'EtcdCluster') return [];
  const isSame = isDeepStrictEqual(live.spec, desired.spec);
  return [isSame ? { kind: 'keep', cluster: live } : { kind: 'update', cluster: live, desired }];
}
