import { formatRevision } from '../../gitops/git/revision.ts';
import type { CheckedCluster, CheckedDeletion } from '../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { type ClusterPlan, planClusters } from '../../reconcile/cluster/foresee/plan-clusters.ts';
import { costsOf } from '../../reconcile/cluster/know/plan/costs.ts';
import { getLive } from '../../reconcile/fleet/apply.ts';
import { changeBetween, type RequestedChange } from '../../reconcile/fleet/check/change.ts';
import { dryRun, problemInField } from '../../reconcile/fleet/check/dry-run.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { type FleetObject, identityOf, listOthers } from '../../reconcile/fleet/objects.ts';
import { type OtherChange, otherChanges } from '../../reconcile/fleet/others.ts';
import { type PlannedApply, problemAt } from '../../reconcile/fleet/plan.ts';
import { dataGoWith } from '../../reconcile/fleet/prune.ts';
import type { DesiredSpec, DesiredTree, SpecProblem } from '../../reconcile/fleet/reading.ts';
import { asksOf } from '../../reconcile/fleet/shown.ts';
import { whyKept } from '../../reconcile/fleet/unlisted.ts';
import { nodePlans, policiesIn } from '../../reconcile/nodes/asked.ts';
import type { NodePlan } from '../../reconcile/nodes/foresee.ts';
import { isOfSecrets } from '../../reconcile/reasons/reasons.ts';
import { inParallel } from '../../reconcile/stepping/in-parallel.ts';
import { intentsFor } from '../pass/plan-pass.ts';
import { changedFields } from './changed-fields.ts';
import type { CheckContext, Question } from './check-context.ts';
import { inStages } from './in-stages.ts';

export interface Foreseen {
  readonly problems: readonly SpecProblem[];
  readonly inherited: readonly SpecProblem[];
  readonly warnings: readonly SpecProblem[];
  readonly deletions: readonly CheckedDeletion[];
  readonly clusters: readonly ForeseenCluster[];
  readonly others: readonly OtherChange[];
  /** Which nodes would be rebooted when, by the policies that change. */
  readonly nodes: readonly NodePlan[];
  /** In which stages of the fleet clusters restart, in a line each. */
  readonly stages: readonly string[];
  /** Something could not be found out, and that is not the request's fault. */
  readonly unknown?: string;
}

export type ForeseenCluster = CheckedCluster & {
  readonly changes?: readonly string[];
  readonly refusals?: readonly { readonly message: string; readonly cure: string; readonly field: string }[];
};

/** Documents that are tried and planned: each costs requests. */
const mostClusters = 500;
const parallel = 8;

/** @throws {KubeError} */
export async function foresee(
  fleet: EtcdFleet,
  { before, after }: { readonly before: DesiredTree; readonly after: DesiredTree },
  { head, targetBranch }: Question,
  context: CheckContext,
): Promise<Foreseen> {
  const { signal, fleets, clusters, namespace } = context;
  const revision = formatRevision({ ref: targetBranch, sha: head });
  const others = await listOthers(context.kube, namespace, signal);
  const seen = { fleets, clusters, others, leftOut: context.kube.leftOut() };
  const change = changeBetween(before, after, { fleet, ...seen, scope: namespace, revision });
  const { applies: listed, left } = bounded(change);
  const applies = await inParallel(listed, parallel, (apply) => readWhole(apply, context));
  const tried = await tryAll(applies, fleet, context);
  // Objects that the fleet may not apply are not read: a document's author must not learn their state.
  const accepted = applies.filter((apply) => tried.accepted.has(apply));
  const planned = await planAll({ ...change, applies: accepted }, tried.accepted, fleet, context);
  const specs = new Map(applies.map(({ spec }) => [identityOf(spec.kind, spec), spec]));
  const was = new Map(before.specs.map((spec) => [identityOf(spec.kind, spec), spec]));
  const refused = planned.flatMap((plan) => problemsIn(plan, specs.get(`${plan.namespace}/${plan.name}`)));
  const unseen = planned.find(({ problem }) => problem !== undefined);
  const unknown =
    tried.unknown ??
    (unseen && `${unseen.namespace}/${unseen.name} could not be looked at: ${unseen.problem}`) ??
    (left > 0
      ? `${left} of ${left + applies.length} changed clusters were not looked at: split the request`
      : undefined);
  const looked = planned.map((plan) => {
    const key = `${plan.namespace}/${plan.name}`;
    return { ...foreseen(plan, specs.get(key)), ...fieldsOf(was.get(key), specs.get(key)) };
  });
  return {
    problems: [...change.problems, ...tried.problems, ...refused],
    inherited: change.inherited,
    warnings: change.warnings,
    deletions: deletionsIn(change),
    clusters: looked,
    stages: inStages(fleet, looked, (key) => specs.get(key)?.object.metadata.labels),
    nodes: await nodesOf(accepted, context),
    others: otherChanges({ applies: accepted, prune: change.prune }),
    ...(unknown !== undefined && { unknown }),
  };
}

/** Of policies that change, alone: what the others do is no matter of this request. */
async function nodesOf(applies: RequestedChange['applies'], context: CheckContext): Promise<readonly NodePlan[]> {
  const asked = policiesIn({ applies });
  if (asked.length === 0) return [];
  const names = new Set(asked.map(({ metadata }) => metadata.name));
  return (await nodePlans(context, asked)).filter(({ policy }) => names.has(policy));
}

function bounded({ applies }: RequestedChange) {
  const some = applies.slice(0, mostClusters);
  return { applies: some, left: applies.length - some.length };
}

type Requested = RequestedChange['applies'][number];

/** A list may hold an object that is not the fleet's yet without its status and `managedFields`. @throws {KubeError} */
async function readWhole(apply: Requested, { kube, signal }: CheckContext): Promise<Requested> {
  if (apply.kind !== 'adopt' && apply.kind !== 'takeOver') return apply;
  const live = await getLive(apply.spec, kube, signal);
  return live && live.metadata.uid === apply.live.metadata.uid ? { ...apply, live } : apply;
}

interface Tried {
  /** What would be live. */
  readonly accepted: ReadonlyMap<PlannedApply, FleetObject>;
  readonly problems: readonly SpecProblem[];
  readonly unknown?: string;
}

async function tryAll(
  applies: RequestedChange['applies'],
  fleet: EtcdFleet,
  { kube, signal }: CheckContext,
): Promise<Tried> {
  const accepted = new Map<PlannedApply, FleetObject>();
  const problems: SpecProblem[] = [];
  let unknown: string | undefined;
  await inParallel(applies, parallel, async (apply) => {
    const said = await dryRun(apply, { fleet, kube, signal });
    if (said.kind === 'accepted') accepted.set(apply, said.object);
    if (said.kind === 'problem') problems.push(said.problem);
    if (said.kind === 'unknown') unknown ??= said.message;
  });
  const sorted = problems.toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
  return { accepted, problems: sorted, ...(unknown !== undefined && { unknown }) };
}

async function planAll(
  change: Pick<RequestedChange, 'applies' | 'prune'>,
  answers: Tried['accepted'],
  fleet: EtcdFleet,
  context: CheckContext,
): Promise<readonly ClusterPlan[]> {
  const intents = (await intentsFor(fleet, change, answers)).filter(({ kind }) => kind !== 'keep');
  if (intents.length === 0) return [];
  return planClusters({ ...context, amongStrangers: true, dryRuns: true }, { namespace: context.namespace, intents });
}

/** What the spec asks for and can't be had; or else where the plan ends with a person, if it would not without it. */
function problemsIn({ planned, intent }: ClusterPlan, spec: DesiredSpec | undefined): readonly SpecProblem[] {
  if (!planned || !spec) return [];
  const { refusals, end, needsPerson, template } = planned;
  if (template) return [problemInField(spec, template.field, template.message)];
  if (refusals.length > 0)
    return refusals.map(({ field, message, cure }) => problemInField(spec, field, `${message}: ${cure}`));
  // Secrets that a new cluster is to be given are not looked at before it is applied.
  if (!needsPerson || end.kind !== 'refused' || (intent === 'create' && isOfSecrets(end.reason))) return [];
  return [problemAt(spec, `${end.message}: ${end.cure}`)];
}

function deletionsIn({ prune, kept }: RequestedChange): readonly CheckedDeletion[] {
  return [
    ...prune.filter(isCluster).map((object) => {
      const { namespace = '', name } = object.metadata;
      return { namespace, name, ...(dataGoWith(object) && { dataGo: true }) };
    }),
    ...kept.map(({ object, because }) => {
      const { namespace = '', name } = object.metadata;
      return { namespace, name: isCluster(object) ? name : `${object.kind}/${name}`, kept: whyKept(because) };
    }),
  ].toSorted((a, b) => (keyOf({ metadata: a }) < keyOf({ metadata: b }) ? -1 : 1));
}

function isCluster({ kind }: RequestedChange['prune'][number]): boolean {
  return kind === 'EtcdCluster';
}

/** Nothing of a document that is new: all of it is. */
function fieldsOf(before: DesiredSpec | undefined, after: DesiredSpec | undefined): Pick<CheckedCluster, 'fields'> {
  if (!before || !after) return {};
  const fields = changedFields(before.object.spec, after.object.spec);
  return fields.length > 0 ? { fields } : {};
}

function foreseen(
  { namespace, name, intent, planned, problem }: ClusterPlan,
  spec: DesiredSpec | undefined,
): ForeseenCluster {
  const asked = spec && { asks: asksOf(spec) };
  const facts = { namespace, name, intent, ...asked, ...(problem !== undefined && { problem }) };
  if (!planned) return facts;
  const { summary, risk, steps, end, changes, rights, refusals } = planned;
  return {
    ...facts,
    planned: {
      summary,
      ...(risk !== undefined && { risk }),
      costs: costsOf(steps),
      ...(rights.length > 0 && { rights }),
      steps,
      end,
    },
    changes,
    refusals,
  };
}
