import { authAfter } from '../../../reconcile/cluster/act/requests/auth-model.ts';
import { noUsers } from '../../../reconcile/cluster/know/auth/content.ts';
import type { AuthContent, KnownAuth } from '../../../reconcile/cluster/know/observation.ts';
import { EtcdError, type Refusal } from '../../../reconcile/interfaces/etcd.ts';
import type { AuthStatus, EtcdAuth } from '../../../reconcile/interfaces/etcd-auth.ts';
import { StepError } from '../../../reconcile/requests/refusals.ts';
import type { Formation, Process, State } from './state.ts';

/** How etcd of the world is reached: a voter of that cluster that a quorum listens to. */
type Served = (
  endpoints: readonly string[],
  clusterId: string,
) => { readonly formation: Formation; readonly leader: Process };

/** etcd's users and roles, by the very model that a plan has: contracts hold it to real ones. */
export function usersOf(
  state: State,
  served: Served,
  reachedBy: (endpoints: readonly string[]) => readonly Process[],
): EtcdAuth {
  const contentFor = (endpoints: readonly string[], clusterId: string) =>
    contentOf(served(endpoints, clusterId).formation);
  return {
    authStatus: async (endpoint): Promise<AuthStatus> => {
      const [process] = reachedBy([endpoint]);
      if (!process) throw new EtcdError('no endpoint answers', 'down');
      const { clusterId, memberId } = process.data;
      const { formation } = served([endpoint], clusterId);
      if (formation.unreadUsers) throw refused('PermissionDenied');
      if (formation.members.some(({ id, isLearner }) => isLearner && id === memberId))
        throw refused('NotSupportedByLearner');
      const { enabled, revision } = authOf(formation);
      return { clusterId, memberId, enabled, revision };
    },
    users: async (endpoints, { clusterId }) => Object.keys(contentFor(endpoints, clusterId).users),
    roles: async (endpoints, { clusterId }) => Object.keys(contentFor(endpoints, clusterId).roles),
    rolesOf: async (endpoints, user, { clusterId }) => contentFor(endpoints, clusterId).users[user],
    rightsOf: async (endpoints, role, { clusterId }) => contentFor(endpoints, clusterId).roles[role],
    changeAuth: async (endpoints, change, { clusterId }) => {
      const { formation } = served(endpoints, clusterId);
      try {
        formation.auth = authAfter(authOf(formation), change);
      } catch (error) {
        if (!(error instanceof StepError)) throw error;
        const { reason, message } = error.failure;
        throw refused(reason as Refusal, message);
      }
      state.changes += 1;
    },
  };
}

function refused(reason: Refusal, message = `refused: ${reason}`): EtcdError {
  return new EtcdError(message, 'refused', undefined, undefined, reason);
}

function authOf({ auth = noUsers }: Formation): KnownAuth {
  return auth;
}

function contentOf(formation: Formation): AuthContent {
  const { content } = authOf(formation);
  if (!content) throw new Error('the world knows all users');
  return content;
}
