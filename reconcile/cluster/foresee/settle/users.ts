import type { Observation } from '../../know/observation.ts';

/** A cluster that was just born has no users; whether one comes back with some is known when it is there. */
export function tellUsers(state: Observation): Observation {
  const { auth, cluster, membership } = state;
  if (auth || !cluster.spec.auth || membership.kind === 'unknown') return state;
  const content = { users: {}, roles: {}, others: { users: [], roles: [] } };
  return { ...state, auth: { kind: 'known', enabled: false, revision: '1', content } };
}
