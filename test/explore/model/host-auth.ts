import { authAfter } from '../../../reconcile/cluster/act/requests/auth-model.ts';
import type { AuthHost } from '../../../reconcile/cluster/act/requests/host.ts';
import { noUsers } from '../../../reconcile/cluster/know/auth/content.ts';
import { namesAsked } from '../../../reconcile/cluster/know/auth/made.ts';
import { wantedAuth } from '../../../reconcile/cluster/know/auth/wanted.ts';
import { tlsModeOf } from '../../../reconcile/cluster/know/certificates/wanted.ts';
import type { AuthContent, Observation } from '../../../reconcile/cluster/know/observation.ts';
import { isSettled } from '../../../reconcile/cluster/observe/ask-auth.ts';
import { unreachable } from '../../../reconcile/requests/refusals.ts';
import { serving, withFormation } from './etcd.ts';
import { clusterIdOf } from './lineage.ts';
import type { Formation, World } from './state.ts';

/** Users are of the data: all members of a formation have the same. */
export const authIn: AuthHost<World> = {
  seen: (world) => serving(world)?.auth ?? noUsers,
  change: (world, change) => {
    const formation = serving(world);
    if (!formation) throw unreachable();
    return withFormation(world, { ...formation, auth: authAfter(formation.auth ?? noUsers, change) });
  },
};

/** As it is asked for: only where the spec says something of it, and in full only where status does not know it. */
export function authSeen(
  formation: Formation,
  { cluster, slots }: Pick<Observation, 'cluster' | 'slots'>,
): Pick<Observation, 'auth'> {
  const wanted = wantedAuth(cluster.spec.auth, { cluster, slots }, tlsModeOf(cluster, slots));
  if (!wanted) return {};
  const { enabled, revision, content } = formation.auth ?? noUsers;
  const seen = { kind: 'known', enabled, revision } as const;
  if (!content || isSettled(cluster, wanted, { ...seen, clusterId: clusterIdOf(formation) })) return { auth: seen };
  const names = namesAsked(cluster, wanted);
  const users = parted(content.users, names.users);
  const roles = parted(content.roles, names.roles);
  const parts = { users: users.ours, roles: roles.ours, others: { users: users.others, roles: roles.others } };
  return { auth: { ...seen, content: parts satisfies AuthContent } };
}

function parted<T>(all: Readonly<Record<string, T>>, names: ReadonlySet<string>) {
  const ours = Object.entries(all).filter(([name]) => names.has(name));
  return { ours: Object.fromEntries(ours), others: Object.keys(all).filter((name) => !names.has(name)) };
}
