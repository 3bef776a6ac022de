import { setTimeout as pause } from 'node:timers/promises';
import type { NodePolicyResult } from '../../reconcile/nodes/step.ts';
import { earliest } from '../../reconcile/time/later-look.ts';
import type { PassContext } from './pass-context.ts';

/** Seconds between two looks, unless a step says less. */
const longestPause = 10;

/**
 * A step for each node policy, after the first steps of the clusters; then, until `done`, the next ones as nodes go
 * their way. Nothing, and no request, where the component node-reboots is not installed, or an invocation is about some
 * clusters or one fleet only.
 */
export async function stepNodesAndWait(context: PassContext, done: AbortSignal): Promise<readonly NodePolicyResult[]> {
  const { rebootsIn, clusters, fleet, signal, waitMs, dryRun, isStopped = async () => false } = context;
  if (rebootsIn === undefined || clusters.length > 0 || fleet !== undefined) return [];
  const { stepNodePolicies } = await import('../../reconcile/nodes/pass.ts');
  let results = await stepNodePolicies({ ...context, rebootsIn });
  if (waitMs <= 0 || dryRun) return results;
  const until = AbortSignal.any([signal, done, AbortSignal.timeout(waitMs)]);
  while (!until.aborted && results.some(({ workRemains }) => workRemains)) {
    await pause(secondsToNextNode(results) * 1000, undefined, { signal: until }).catch(() => undefined);
    if (until.aborted || (await isStopped())) break;
    results = merged(results, await stepNodePolicies({ ...context, rebootsIn }));
  }
  return results;
}

/** What was done counts for the whole invocation. */
function merged(before: readonly NodePolicyResult[], now: readonly NodePolicyResult[]): readonly NodePolicyResult[] {
  const acted = new Set(before.flatMap(({ name, outcome }) => (outcome === 'acted' ? [name] : [])));
  return now.map((one) => (one.outcome === 'none' && acted.has(one.name) ? { ...one, outcome: 'acted' } : one));
}

function secondsToNextNode(results: readonly NodePolicyResult[]): number {
  const asked = results.flatMap(({ workRemains, afterSeconds }) => (workRemains ? [afterSeconds ?? 0] : []));
  return Math.min(longestPause, ...asked);
}

/** When a window opens for a node that waits. */
export function nextNodeLook(results: readonly NodePolicyResult[]): Date | undefined {
  return earliest(...results.map(({ nextAt }) => nextAt));
}
