import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { wantsChecks } from '../../reconcile/fleet/statements.ts';

/** The branch that requests ask to be merged into; a tag or a commit has none. */
export function branchOf({ spec }: Pick<EtcdFleet, 'spec'>): string | undefined {
  const { ref } = spec.git;
  if (ref.startsWith('refs/heads/')) return ref.slice('refs/heads/'.length);
  return ref.startsWith('refs/') || ref === 'HEAD' || /^[0-9a-f]{40}$/i.test(ref) ? undefined : ref;
}

export function areChecked(fleet: Pick<EtcdFleet, 'spec'>): boolean {
  return wantsChecks(fleet) && !fleet.spec.suspend;
}

/** Whether there are checks of a time when they were wanted. */
export function areLeftOver(fleet: Pick<EtcdFleet, 'spec' | 'status'>): boolean {
  return !wantsChecks(fleet) && fleet.status?.checks !== undefined;
}
