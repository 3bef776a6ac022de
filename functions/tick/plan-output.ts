import { printable } from '../../manifests/printable.ts';
import type { ClusterPlan } from '../../reconcile/cluster/foresee/plan-clusters.ts';
import { planText } from '../../reconcile/cluster/foresee/table.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { identityOfObject } from '../../reconcile/fleet/objects.ts';
import { describeOther, otherChanges } from '../../reconcile/fleet/others.ts';
import type { Unlisted } from '../../reconcile/fleet/prune.ts';
import { place } from '../../reconcile/fleet/statements.ts';
import { kinds } from '../../reconcile/kinds.ts';
import type { Kinds, Plan } from '../../reconcile/stepping/kind.ts';
import type { ShownCluster } from '../page/check-report.ts';
import type { FleetResult } from '../pass/fleet-pass.ts';
import type { PlanPassResult } from '../pass/plan-pass.ts';
import { type Asked, nothingHere } from './nothing-here.ts';
import type { TickOptions } from './options.ts';

export function renderPlans(
  result: PlanPassResult,
  { output, ...asked }: Asked & Pick<TickOptions, 'output'>,
  extra: { readonly requests: object },
  table: Kinds = kinds,
): string {
  switch (output) {
    case 'text':
      return asText(result, asked);
    case 'json':
      return `${JSON.stringify({ ...asData(result, table), ...extra })}\n`;
  }
}

function asData({ fleets, clusters, others }: PlanPassResult, table: Kinds) {
  return {
    fleets: fleets.map(({ fleet, result }) => ({
      namespace: fleet.metadata.namespace,
      name: fleet.metadata.name,
      git: saysOf(result),
      problems: result.kind === 'done' ? (result.asked?.problems ?? []) : [],
      kept: result.kind === 'done' ? (result.asked?.keep ?? []).map(keptOf) : [],
      others: result.kind === 'done' && result.asked ? otherChanges(result.asked) : [],
    })),
    clusters,
    ...Object.fromEntries(
      Object.entries(others).flatMap(([kind, plans]) =>
        plans.length > 0 ? [[table[kind]?.shown?.as ?? kind, plans.map(({ data }) => data)] as const] : [],
      ),
    ),
  };
}

function asText({ fleets, clusters, others }: PlanPassResult, asked: Asked): string {
  const blocks: string[] = [];
  for (const { fleet, result } of fleets) {
    const { problems = [], keep = [] } = (result.kind === 'done' ? result.asked : undefined) ?? {};
    const kept = keep.map(keptOf).map(({ name, because }) => `  keeps ${name}: ${because}`);
    const wrong = problems.map((problem) => `  ${place(problem)}`);
    const asked = result.kind === 'done' ? result.asked : undefined;
    const others = asked ? otherChanges(asked).map((change) => `  ${describeOther(change)}`) : [];
    blocks.push([`fleet ${keyOf(fleet)}  ${saysOf(result)}`, ...others, ...kept, ...wrong].join('\n'));
  }
  for (const cluster of clusters) blocks.push(clusterPlanText(cluster));
  for (const plan of Object.values(others).flat()) blocks.push(blockOf(plan));
  if (blocks.length === 0) return `${nothingHere(asked)}\n`;
  return `${blocks.join('\n\n')}\n`;
}

const intents = {
  keep: '',
  update: ' changes',
  create: ' is created',
  delete: ' is deleted',
} as const satisfies Record<ClusterPlan['intent'], string>;

/** The plan of one cluster, for a person: lines without an end. */
export function clusterPlanText({ namespace, name, intent, planned, problem }: ShownCluster): string {
  const title = `${namespace}/${name}${intents[intent]}`;
  if (!planned) return `${title}  could not be looked at: ${problem}`;
  const risk = planned.risk === undefined ? '' : `  ${planned.risk}\n`;
  const rights = (planned.rights ?? []).map(
    ({ who, gains, loses }) =>
      `  ${who}: ${[gains && `gains ${gains}`, loses && `loses ${loses}`].filter(Boolean).join('; ') || 'has no rights'}\n`,
  );
  return `${title}  ${planned.summary}\n${risk}${rights.join('')}${planText(planned)}`;
}

function blockOf({ title, lines }: Plan): string {
  return [title, ...lines.map((line) => `  ${line}`)].map(printable).join('\n');
}

function saysOf(result: FleetResult): string {
  if (result.kind === 'left') return 'another invocation is at work on it';
  const { reading } = result.outcome;
  switch (reading.kind) {
    case 'unchanged':
      return `${reading.revision}: as it is applied`;
    case 'tree':
      return `${reading.revision}: as it would be applied`;
    case 'failed':
      return `${reading.reason}: ${reading.message}; planned is what is live`;
    case 'skipped':
      return `is ${reading.because}; planned is what is live`;
  }
}

function keptOf({ object, because }: Unlisted) {
  return { name: identityOfObject(object), because };
}

/** What `--detailed-exitcode` tells of plans: a person first. */
export function planExitCode({ clusters }: PlanPassResult): 0 | 3 | 4 {
  const stuck = clusters.some(({ planned }) => planned?.end.kind === 'refused' || planned?.end.kind === 'circles');
  if (stuck) return 3;
  return clusters.every(({ planned }) => planned?.end.kind === 'done' && planned.steps.length === 0) ? 0 : 4;
}
