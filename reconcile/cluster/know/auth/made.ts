import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { AuthContent } from '../observed/auth.ts';
import type { Made } from './changes.ts';
import { has } from './content.ts';
import type { WantedAuth } from './wanted.ts';

/** As status says it: where that was lost, what is not listed is named and stays. */
export function madeIn({ status }: Pick<EtcdCluster, 'status'>): Made {
  const { users = [], roles = [] } = status?.auth ?? {};
  return { users, roles };
}

/** All names that are asked about: those that the spec lists, and those that are still to be deleted. */
export function namesAsked(cluster: Pick<EtcdCluster, 'status'>, wanted: WantedAuth) {
  const made = madeIn(cluster);
  return {
    users: new Set([...wanted.users.keys(), ...made.users]),
    roles: new Set([...wanted.roles.keys(), ...made.roles]),
  };
}

/** As many as status takes; those that are asked for come first. */
const mostNames = 256;

function listed(names: readonly string[]): readonly string[] {
  return [...new Set(names)].slice(0, mostNames).toSorted();
}

/**
 * What status is to say: all that is asked for, before it is made, so that no crash leaves one behind that counts as
 * made by others; and what is still there of what was asked for before.
 */
export function madeAfter(before: Made, wanted: WantedAuth, seen: AuthContent | undefined): Made {
  const left = (names: readonly string[], there: Readonly<Record<string, unknown>> | undefined) =>
    names.filter((name) => there === undefined || has(there, name));
  return {
    users: listed([...wanted.users.keys(), ...left(before.users, seen?.users)]),
    roles: listed([...wanted.roles.keys(), ...left(before.roles, seen?.roles)]),
  };
}
