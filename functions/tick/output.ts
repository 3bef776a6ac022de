import { kstatusOf } from '../../reconcile/fleet/kstatus.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { place } from '../../reconcile/fleet/statements.ts';
import { conditionOf } from '../../reconcile/objects/conditions.ts';
import { withCure } from '../../reconcile/reasons/cure.ts';
import type { OnePass } from '../pass/one-pass.ts';
import type { PassResult } from '../pass/pass-context.ts';
import { printable } from '../printable.ts';
import type { TickOptions } from './options.ts';

/** The results, for a person or for a program. */
export function render(result: PassResult, format: 'text' | 'json', extra: { readonly requests: object }): string {
  switch (format) {
    case 'text':
      return asText(result);
    case 'json':
      return `${JSON.stringify({ ...asData(result), ...extra })}\n`;
    default:
      return format satisfies never;
  }
}

function asData({ fleets, clusters, backups, nodes, workRemains }: PassResult) {
  return {
    fleets: fleets.map(({ fleet, result }) => ({
      namespace: fleet.metadata.namespace,
      name: fleet.metadata.name,
      revision: fleet.status?.revision,
      ready: conditionOf(fleet.status, 'Ready'),
      ...(result.kind === 'left' && { leftToAnotherInvocation: true }),
      ...(result.kind === 'done' && {
        problems: result.outcome.problems ?? [],
        retries: result.outcome.retries,
        changed: [...result.outcome.changed],
        pruned: result.outcome.pruned,
        ...(result.planned && { planned: result.planned }),
      }),
    })),
    clusters: clusters.map(({ cluster: _, ...rest }) => rest),
    backups: backups.map(({ backup: _, ...rest }) => rest),
    ...(nodes && { nodes }),
    workRemains,
  };
}

function asText({ fleets, clusters, backups, nodes = [] }: PassResult): string {
  const lines: string[] = [];
  for (const { fleet, result } of fleets) {
    const ready = conditionOf(fleet.status, 'Ready');
    lines.push(`fleet    ${keyOf(fleet)}  ${ready ? `${ready.reason}: ${ready.message}` : 'not reported yet'}`);
    if (result.kind !== 'done') continue;
    for (const line of result.planned ?? []) lines.push(`         would ${line}`);
    if (result.planned) for (const problem of result.outcome.problems ?? []) lines.push(`         ${place(problem)}`);
  }
  for (const { namespace, name, decision, outcome, problem } of clusters) {
    const done = outcome === 'none' ? decision.kind : outcome;
    const message = problem ?? decision.message;
    const told = decision.kind === 'refuse' ? withCure(message, decision.cure) : message;
    lines.push(`cluster  ${namespace}/${name}  ${done}  ${decision.reason}: ${told}`);
  }
  for (const { namespace, name, outcome, reason, message } of backups)
    lines.push(`backup   ${namespace}/${name}  ${outcome}  ${reason}: ${message}`);
  for (const { name, outcome, reason, message } of nodes)
    lines.push(`nodes    ${name}  ${outcome}  ${reason}: ${message}`);
  if (lines.length === 0) lines.push('there is no EtcdFleet and no EtcdCluster here');
  return `${lines.map(printable).join('\n')}\n`;
}

/**
 * Of a pass that was made. A follow-up fails where work remains and none can go on with it: Kubernetes starts it anew.
 * A tick does not: the next one comes.
 */
export function exitCode(
  result: OnePass,
  { detailedExitcode, followUp }: Pick<TickOptions, 'detailedExitcode' | 'followUp'>,
): number {
  if (result.isDropped && followUp) return 1;
  return detailedExitcode ? detailedExitCode(result) : 0;
}

/** What `--detailed-exitcode` tells: a person first, because more steps won't help there. */
function detailedExitCode({ fleets, clusters, workRemains }: PassResult): 0 | 3 | 4 {
  const stalled =
    clusters.some(({ decision }) => decision.kind === 'refuse') ||
    fleets.some(({ fleet }) => kstatusOf(fleet) === 'Failed');
  if (stalled) return 3;
  return workRemains ? 4 : 0;
}
