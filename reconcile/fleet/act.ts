import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet, FleetInventoryEntry } from '../../manifests/api/etcd-fleet.ts';
import { annotations } from '../../manifests/render/names.ts';
import { inParallel } from '../in-parallel.ts';
import { type Kube, KubeError, resources } from '../kube.ts';
import { type ApplyContext, type ApplyOutcome, applyOne } from './apply.ts';
import { claimRevision } from './attempt.ts';
import { complaintFor, serviceAccountOf } from './complaint.ts';
import { keyOf, ownClusters } from './names.ts';
import type { FleetOutcome } from './outcome.ts';
import { tellOverwritten } from './overwritten.ts';
import { type FleetPlan, type PlanInput, planFleet, problemAt } from './plan.ts';
import type { Reading, SpecProblem } from './reading.ts';

export interface ActInput extends Omit<PlanInput, 'revision' | 'tree'> {
  readonly reading: Extract<Reading, { kind: 'tree' }>;
  readonly kube: Kube;
  readonly signal: AbortSignal;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

export type ActResult =
  /** `fleet`: as claimed, to report on. */
  | { readonly kind: 'acted'; readonly fleet: EtcdFleet; readonly outcome: FleetOutcome }
  /** The fleet changed, or another invocation began a newer attempt: look at everything again, or stop. */
  | { readonly kind: 'lost' };

/** Objects of one fleet that are written at a time. */
const parallel = 8;

/**
 * Applies and prunes what the plan says, under the claim of the revision.
 *
 * @throws {KubeError} when the fleet itself can't be claimed; what goes wrong with single objects is in the outcome
 */
export async function actOnFleet(input: ActInput): Promise<ActResult> {
  const { kube, fleet, reading, signal } = input;
  const { revision, tree } = reading;
  const plan = planFleet({ ...input, revision, tree });
  const attempt = await claimRevision(kube, fleet, revision, signal);
  if (attempt.kind === 'lost') return attempt;

  const context: ApplyContext = {
    fleet: attempt.fleet,
    revision,
    ...(attempt.overtook && { overtook: attempt.overtook }),
    kube,
    asFleet: kube.as(serviceAccountOf(fleet)),
    signal,
  };
  const applied = await inParallel(plan.applies, parallel, (planned) => applyOne(planned, context));
  if (applied.some(({ kind }) => kind === 'superseded')) return { kind: 'lost' };
  await tellAll(input, plan.applies, applied);
  const pruned = await inParallel(plan.prune, parallel, (cluster) => pruneOne(cluster, context));
  return { kind: 'acted', fleet: attempt.fleet, outcome: outcomeOf(input, plan, applied, pruned) };
}

/** An event that can't be written is no reason to report nothing else. */
async function tellAll(
  { kube, fleet, reading, signal, log }: ActInput,
  planned: FleetPlan['applies'],
  outcomes: readonly ApplyOutcome[],
): Promise<void> {
  const facts = { revision: reading.revision, applied: fleet.status?.revision?.applied, signal };
  await Promise.all(
    outcomes.map(async (outcome, index) => {
      const one = planned[index];
      if (!one || outcome.kind !== 'applied') return;
      await tellOverwritten(kube, one, outcome, facts).catch((error: unknown) => {
        if (!(error instanceof KubeError)) throw error;
        log({ cluster: keyOf(outcome.cluster), problem: error.message }, 'no event says that Git has put it back');
      });
    }),
  );
}

type PruneOutcome =
  | { readonly kind: 'pruned'; readonly cluster: EtcdCluster }
  | { readonly kind: 'problem' | 'retry'; readonly cluster: EtcdCluster; readonly message: string };

/** By UID and resourceVersion: what changed since it was listed, be it only its owner, is looked at again first. */
async function pruneOne(cluster: EtcdCluster, { asFleet, fleet, signal }: ApplyContext): Promise<PruneOutcome> {
  const { namespace = '', name, uid = '', resourceVersion = '' } = cluster.metadata;
  try {
    await asFleet.delete(resources.clusters, namespace, name, { preconditions: { uid, resourceVersion }, signal });
    return { kind: 'pruned', cluster };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.class === 'precondition') {
      return { kind: 'retry', cluster, message: `EtcdCluster ${keyOf(cluster)} changed before it could be deleted` };
    }
    const message = `not deleted: ${complaintFor(error, { namespace, name }, fleet)}`;
    return { kind: error.class === 'terminal' ? 'problem' : 'retry', cluster, message };
  }
}

function outcomeOf(
  { fleet, clusters, reading }: ActInput,
  plan: FleetPlan,
  applied: readonly ApplyOutcome[],
  pruned: readonly PruneOutcome[],
): FleetOutcome {
  const done = applied.flatMap((one) => (one.kind === 'applied' ? [one] : []));
  const problems: SpecProblem[] = [
    ...plan.problems,
    ...applied.flatMap((one) => (one.kind === 'problem' ? [problemAt(one.spec, one.message)] : [])),
    ...pruned.flatMap((one) => (one.kind === 'problem' ? [problemOf(one.cluster, one.message)] : [])),
  ];
  const retries = [
    ...applied.flatMap((one) => (one.kind === 'retry' ? [one.message] : [])),
    ...pruned.flatMap((one) => (one.kind === 'retry' ? [one.message] : [])),
    ...plan.leaving.map(
      ({ namespace, name }) => `EtcdCluster ${namespace}/${name} is being deleted, and is applied anew afterwards`,
    ),
  ];
  const gone = new Set(pruned.flatMap((one) => (one.kind === 'pruned' ? [one.cluster.metadata.uid] : [])));
  return {
    reading,
    problems,
    retries,
    unlisted: {
      kept: plan.keep.map(({ cluster, because }) => ({ key: keyOf(cluster), because })),
      ...(plan.confirmation && { confirmation: plan.confirmation }),
      notes: reading.tree.notes,
    },
    inventory: inventoryOf(fleet, clusters, plan.keep, done, gone),
    applied: problems.length === 0 && retries.length === 0,
    changed: new Set(done.filter(({ changed }) => changed).map(({ cluster }) => keyOf(cluster))),
    pruned: pruned.flatMap((one) => (one.kind === 'pruned' ? [keyOf(one.cluster)] : [])),
  };
}

/** What the apply left, and what is owned but was not applied: at generation 0 if that is for want of success. */
function inventoryOf(
  fleet: EtcdFleet,
  clusters: readonly EtcdCluster[],
  keep: FleetPlan['keep'],
  done: readonly Extract<ApplyOutcome, { kind: 'applied' }>[],
  gone: ReadonlySet<string | undefined>,
): readonly FleetInventoryEntry[] {
  const fresh = done.map(({ spec, cluster }) => entryOf(cluster, spec.file, cluster.metadata.generation ?? 0));
  const applied = new Set(fresh.map(({ uid }) => uid));
  const others = ownClusters(fleet, clusters).filter(
    ({ metadata }) => !applied.has(metadata.uid ?? '') && !gone.has(metadata.uid),
  );
  const unlisted = new Set(keep.map(({ cluster }) => cluster.metadata.uid));
  const kept = others.map((cluster) => {
    const source = fleet.status?.inventory?.find(({ uid }) => uid === cluster.metadata.uid)?.source;
    return entryOf(
      cluster,
      source ?? cluster.metadata.annotations?.[annotations.source] ?? '',
      unlisted.has(cluster.metadata.uid) ? (cluster.metadata.generation ?? 0) : 0,
    );
  });
  return [...fresh, ...kept].sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
}

function entryOf({ metadata }: EtcdCluster, source: string, generation: number): FleetInventoryEntry {
  return { namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid ?? '', generation, source };
}

function problemOf(cluster: EtcdCluster, message: string): SpecProblem {
  const { namespace, name } = cluster.metadata;
  const file = cluster.metadata.annotations?.[annotations.source] ?? '';
  return { file, line: 0, column: 0, message, kind: 'EtcdCluster', ...(namespace && { namespace }), name };
}
