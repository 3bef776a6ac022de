import type { About, Kind, SteppingContext } from './kind.ts';

/** Whether an invocation is about everything, and not about some clusters or one fleet only. */
export function isAboutAll({ clusters, fleet }: About): boolean {
  return clusters.length === 0 && fleet === undefined;
}

/** Whether this invocation steps the kind. What it leaves out, the next tick sees to. */
export function isStepped(kind: Kind, context: SteppingContext): boolean {
  if (kind.scope === 'whole' && !isAboutAll(context)) return false;
  if (kind.dryRun === 'skipped' && context.dryRun) return false;
  return kind.needs?.(context) ?? true;
}
