import { noUsers } from '../../know/auth/content.ts';
import type { Observation } from '../../know/observation.ts';

/** A cluster that was just born has no users; one that comes back has what status says, and no more is known. */
export function tellUsers(state: Observation): Observation {
  const { auth, cluster, membership } = state;
  if (auth || !cluster.spec.auth || membership.kind === 'unknown') return state;
  const told = cluster.status?.auth;
  if (told) return { ...state, auth: { kind: 'known', enabled: told.enabled, revision: told.revision ?? '1' } };
  return { ...state, auth: noUsers };
}
