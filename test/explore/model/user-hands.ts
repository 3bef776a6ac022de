import { rootName } from '../../../manifests/api/auth-settings.ts';
import { authAfter } from '../../../reconcile/cluster/act/requests/auth-model.ts';
import { noUsers } from '../../../reconcile/cluster/know/auth/content.ts';
import { namesIn as ofChanges } from '../../../reconcile/cluster/know/auth/told.ts';
import type { KnownAuth } from '../../../reconcile/cluster/know/observation.ts';
import type { AuthChange } from '../../../reconcile/interfaces/etcd-auth.ts';
import { formationOf, serving, withFormation } from './etcd.ts';
import type { Fault } from './fault.ts';
import type { UserFault } from './fault-kind.ts';
import type { State, World } from './state.ts';

/** Others that change etcd's users with etcdctl, where the spec says which there are to be. */

/** Names that no spec of a scenario lists. */
export const theirs = { user: 'mallory', role: 'theirs' } as const;
/** The user that specs list, and whose rights others change. */
const client = 'orders-client';

/** The user whom etcd takes etcd-ratchet for. */
export function ownUser({ ours }: World): string {
  return ours?.named ? 'orders-reconciler' : rootName;
}

export const userFaults = {
  userMade: {
    what: `another hand makes user ${theirs.user}, with role ${theirs.role}`,
    strike: (world, { ordinal }) =>
      ordinal > 0 || usersIn(world)?.[theirs.user]
        ? undefined
        : changed(world, [
            { op: 'add-role', role: theirs.role },
            { op: 'add-user', user: theirs.user },
            { op: 'grant-role', user: theirs.user, role: theirs.role },
          ]),
  },
  rightsGiven: {
    what: `another hand gives user ${client} the role ${rootName}`,
    strike: (world, { ordinal }) =>
      ordinal > 0 || !usersIn(world)?.[client] || usersIn(world)?.[client]?.includes(rootName)
        ? undefined
        : changed(world, [{ op: 'grant-role', user: client, role: rootName }]),
  },
  rightsTaken: {
    what: `another hand takes the roles of user ${client}`,
    strike: (world, { ordinal }) => {
      const roles = usersIn(world)?.[client] ?? [];
      const changes = roles.map((role): AuthChange => ({ op: 'revoke-role', user: client, role }));
      return ordinal > 0 || roles.length === 0 ? undefined : changed(world, changes);
    },
  },
  authTurned: {
    what: 'another hand turns authentication off where it is on, or on where it is off',
    strike: (world, { ordinal }) => {
      const isOn = serving(world)?.auth?.enabled === true;
      // By whoever has root. That hand locks out no one.
      const mayGoOn = [rootName, ownUser(world)].every((user) => usersIn(world)?.[user]?.includes(rootName));
      return ordinal > 0 || (!isOn && !mayGoOn) ? undefined : changed(world, [{ op: isOn ? 'disable' : 'enable' }]);
    },
  },
} as const satisfies Readonly<Record<UserFault, Fault>>;

function usersIn(world: World): Readonly<Record<string, readonly string[]>> | undefined {
  return serving(world)?.auth?.content?.users;
}

function changed(world: World, changes: readonly AuthChange[]): World | undefined {
  const formation = serving(world);
  if (!formation || !world.cluster.spec.auth) return undefined;
  return withFormation(world, { ...formation, auth: changes.reduce(authAfter, formation.auth ?? noUsers) });
}

/** What a request makes that arrives late may not be known as ours by then. */
export function withStrays(before: World, after: World): World {
  const sudden = after.formations.flatMap(({ id, auth }) => {
    const was = namesIn(formationOf(before, id)?.auth);
    return namesIn(auth).filter((name) => !was.includes(name));
  });
  return strayed(after, sudden);
}

/** Status is lost: what there is by now, and what a step that goes on still makes, is known to no one. */
export function usersForgotten({ acting }: Pick<State, 'acting'>, world: World): World {
  const coming = acting?.action.kind === 'keep-users' ? ofChanges(acting.action.changes) : [];
  return strayed(world, [...namesIn(serving(world)?.auth), ...coming]);
}

function strayed(world: World, names: readonly string[]): World {
  if (names.length === 0) return world;
  return { ...world, strays: [...new Set([...(world.strays ?? []), ...names])].toSorted() };
}

function namesIn(auth: KnownAuth | undefined): readonly string[] {
  const { users = {}, roles = {} } = auth?.content ?? {};
  return [...Object.keys(users), ...Object.keys(roles)];
}
