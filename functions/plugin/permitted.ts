import { isReason, type KubeObject, type ListOptions, type Resource } from '../../reconcile/interfaces/kube.ts';
import type { Asked } from './command.ts';

/** What this person may list; what is forbidden is noted, and as if there were none. @throws {KubeError} */
export async function listPermitted<T extends KubeObject>(
  { kube, stop }: Pick<Asked, 'kube' | 'stop'>,
  resource: Resource,
  options: Omit<ListOptions, 'signal'>,
  forbidden: Set<string>,
): Promise<readonly T[]> {
  try {
    return (await kube.list<T>(resource, { ...options, signal: stop })).items;
  } catch (error) {
    if (isReason(error, 'Forbidden')) forbidden.add(resource.plural);
    // Where the kind is not installed, there is none.
    else if (!isReason(error, 'NotFound')) throw error;
    return [];
  }
}

/** Which right is missing, for a person who can ask for it. */
export function tellForbidden(forbidden: ReadonlySet<string>, { err }: Pick<Asked, 'err'>): void {
  if (forbidden.size === 0) return;
  err(`you may not read ${[...forbidden].join(', ')}: what depends on them is not shown (the role view reads them)\n`);
}
