import type { PlanCosts } from '../../../../manifests/api/check-report.ts';
import type { ActionKind } from '../action.ts';

interface Costly {
  readonly action: string;
  readonly restarts?: true;
}

/** Each takes a member, or the data of all, away for good. */
const removing: ReadonlySet<string> = new Set<ActionKind>([
  'remove-member',
  'remove-inherited',
  'outvote-members',
  'delete-volumes',
  'begin-rollback',
  'begin-recovery',
]);

/** What the steps of a plan cost the applications of a cluster. */
export function costsOf(steps: readonly Costly[]): PlanCosts {
  const restarts = steps.filter(({ action, restarts }) => action === 'restart-member' || restarts).length;
  return { restarts, removals: steps.filter(({ action }) => removing.has(action)).length };
}

/** The annotation of a cluster: the request, the restarts and the removals that its plan had. */
export function formatShown(request: string, { restarts, removals }: PlanCosts): string {
  return `${request}/${restarts}/${removals}`;
}

export interface Shown extends PlanCosts {
  readonly request: string;
}

/** `undefined` for anything that was not written so: an editor of the cluster may have set it. */
export function parseShown(text: string | undefined): Shown | undefined {
  const [, request, restarts, removals] = /^(\d{1,16})\/(\d{1,4})\/(\d{1,4})$/.exec(text ?? '') ?? [];
  return request === undefined ? undefined : { request, restarts: Number(restarts), removals: Number(removals) };
}

/** Where a plan costs more than what was shown of it: both, in words. */
export function outgrown({ request, ...shown }: Shown, now: PlanCosts): string | undefined {
  if (now.restarts <= shown.restarts && now.removals <= shown.removals) return undefined;
  return `request ${request} was shown with ${said(shown)}, and it takes ${said(now)} by now`;
}

function said({ restarts, removals }: PlanCosts): string {
  return `${counted(restarts, 'restart')} and ${counted(removals, 'removal')}`;
}

/** `1 restart`, `3 restarts`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
