import { printable } from '../../manifests/printable.ts';
import { kstatusOf } from '../../reconcile/fleet/kstatus.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { place } from '../../reconcile/fleet/statements.ts';
import { kinds, type Results } from '../../reconcile/kinds.ts';
import { conditionOf } from '../../reconcile/objects/conditions.ts';
import { sayLeftOut } from '../../reconcile/objects/left-out.ts';
import type { Kinds, Shown } from '../../reconcile/stepping/kind.ts';
import { keyOf as keyOfResult, type StepResult } from '../../reconcile/stepping/result.ts';
import type { OnePass } from '../pass/one-pass.ts';
import type { PassResult } from '../pass/pass-context.ts';
import { type Asked, nothingHere } from './nothing-here.ts';
import type { TickOptions } from './options.ts';

export function render(
  result: PassResult,
  { output, ...asked }: Asked & Pick<TickOptions, 'output'>,
  extra: { readonly requests: object },
  table: Kinds = kinds,
): string {
  switch (output) {
    case 'text':
      return asText(result, asked, table);
    case 'json':
      return `${JSON.stringify({ ...asData(result, table), ...extra })}\n`;
  }
}

/** The results of every kind that was looked at and is shown, in the order of the table. */
function shownOf(results: Results, table: Kinds) {
  return Object.entries(table).flatMap(([kind, { shown }]) => {
    const all = (results as Readonly<Record<string, readonly StepResult[] | undefined>>)[kind];
    return shown && all ? [{ shown: shown as Shown<StepResult>, all }] : [];
  });
}

function asData({ fleets, results, workRemains, leftOut }: PassResult, table: Kinds) {
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
    ...Object.fromEntries(shownOf(results, table).map(({ shown, all }) => [shown.as, all.map(shown.data)])),
    ...(leftOut.size > 0 && { namespacesLeftOut: Object.fromEntries(leftOut) }),
    workRemains,
  };
}

function asText({ fleets, results, leftOut }: PassResult, asked: Asked, table: Kinds): string {
  const lines: string[] = [];
  for (const { fleet, result } of fleets) {
    const ready = conditionOf(fleet.status, 'Ready');
    lines.push(`fleet    ${keyOf(fleet)}  ${ready ? `${ready.reason}: ${ready.message}` : 'not reported yet'}`);
    if (result.kind !== 'done') continue;
    for (const line of result.planned ?? []) lines.push(`         would ${line}`);
    if (result.planned) for (const problem of result.outcome.problems ?? []) lines.push(`         ${place(problem)}`);
  }
  for (const { shown, all } of shownOf(results, table))
    for (const result of all) {
      const { outcome, reason, message } = result;
      const told = shown.line?.(result) ?? `${outcome}  ${reason}: ${message}`;
      lines.push(`${shown.label.padEnd(7)}  ${keyOfResult(result)}  ${told}`);
    }
  for (const [namespace, why] of leftOut) lines.push(sayLeftOut(namespace, why));
  if (lines.length === 0) lines.push(nothingHere(asked));
  return `${lines.map(printable).join('\n')}\n`;
}

/** A follow-up fails if work remains and no next one could be made: Kubernetes starts it anew. A tick does not. */
export function exitCode(
  result: OnePass,
  { detailedExitcode, followUp }: Pick<TickOptions, 'detailedExitcode' | 'followUp'>,
): number {
  if (result.isStarved || (result.isDropped && followUp)) return 1;
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
