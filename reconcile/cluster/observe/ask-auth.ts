import { abortAfter } from '../../../manifests/abort-after.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { EtcdError } from '../../interfaces/etcd.ts';
import type { AuthStatus, EtcdAuth } from '../../interfaces/etcd-auth.ts';
import { inParallel } from '../../stepping/in-parallel.ts';
import { type EtcdWay, withEtcd } from '../etcd-way.ts';
import { namesAsked } from '../know/auth/made.ts';
import { hashOfWanted, type WantedAuth, wantedAuth } from '../know/auth/wanted.ts';
import { tlsModeOf } from '../know/certificates/wanted.ts';
import { votersOf } from '../know/membership/voters.ts';
import type { AuthContent, AuthView, Observation } from '../know/observation.ts';
import { type EtcdAnswers, etcdBudget } from './ask-etcd.ts';

/** How many users and roles are asked for side by side. */
const sideBySide = 8;

/**
 * etcd's users and roles, where the spec says what they are to be. While etcd's own revision of them is the one at
 * which all was as asked, one question is all: other hands move it, too.
 *
 * @param thorough a plan goes beyond what is asked now
 */
export async function askAuth(
  way: EtcdWay,
  { cluster, slots, membership }: EtcdAnswers & Pick<Observation, 'cluster'>,
  { thorough, signal }: { readonly thorough: boolean; readonly signal: AbortSignal },
): Promise<Pick<Observation, 'auth'>> {
  const wanted = wantedAuth(cluster.spec.auth, { cluster, slots }, tlsModeOf(cluster, slots));
  if (!wanted || membership.kind === 'unknown' || votersOf(membership.members).length === 0) return {};
  const { clusterId } = membership;
  const inTime = abortAfter(etcdBudget, signal);
  try {
    const auth = await withEtcd(way, async (etcd, endpoints): Promise<AuthView> => {
      const { enabled, revision } = await anyStatus(etcd, endpoints, { clusterId, signal: inTime });
      const seen = { kind: 'known', enabled, revision } as const;
      if (!thorough && isSettled(cluster, wanted, { enabled, revision, clusterId })) return seen;
      return {
        ...seen,
        ...(await contentOf(etcd, endpoints, { cluster, wanted, clusterId, signal: inTime }).catch(unread)),
      };
    });
    return { auth };
  } catch (error) {
    if (error instanceof EtcdError) return { auth: { kind: 'unknown', cause: error.message } };
    throw error;
  }
}

/** Whether etcd asks clients for their user is known all the same. */
function unread(error: unknown): { readonly unread: string } {
  if (error instanceof EtcdError) return { unread: error.message };
  throw error;
}

/** As status remembers it, of the very spec that there is. etcd's revision does not move when it is enabled. */
export function isSettled(
  { status }: EtcdCluster,
  wanted: WantedAuth,
  { enabled, revision, clusterId }: Pick<AuthStatus, 'enabled' | 'revision' | 'clusterId'>,
): boolean {
  const { auth, clusterID } = status ?? {};
  // Another life of the cluster counts its revisions anew.
  if (clusterID !== clusterId) return false;
  return auth?.revision === revision && auth.enabled === enabled && auth.asked === hashOfWanted(wanted);
}

interface Asking {
  readonly clusterId: string;
  readonly signal: AbortSignal;
}

/** From one that answers: it has applied all that was decided before. @throws {EtcdError} of the last one */
async function anyStatus(
  etcd: EtcdAuth,
  endpoints: readonly string[],
  { clusterId, signal }: Asking,
): Promise<AuthStatus> {
  let last: unknown;
  for (const endpoint of endpoints) {
    try {
      const status = await etcd.authStatus(endpoint, { signal });
      if (status.clusterId === clusterId) return status;
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      last = error;
    }
  }
  throw last ?? new EtcdError('no member of the cluster answers for its authentication', 'down');
}

/** Others are known by their names: there may be very many. */
async function contentOf(
  etcd: EtcdAuth,
  endpoints: readonly string[],
  { cluster, wanted, clusterId, signal }: Asking & { readonly cluster: EtcdCluster; readonly wanted: WantedAuth },
): Promise<{ readonly content: AuthContent }> {
  const ours = namesAsked(cluster, wanted);
  const options = { clusterId, signal };
  const [users, roles] = await Promise.all([etcd.users(endpoints, options), etcd.roles(endpoints, options)]);
  const content = {
    users: await asked(users, ours.users, (user) => etcd.rolesOf(endpoints, user, options)),
    roles: await asked(roles, ours.roles, (role) => etcd.rightsOf(endpoints, role, options)),
    others: {
      users: users.filter((user) => !ours.users.has(user)),
      roles: roles.filter((role) => !ours.roles.has(role)),
    },
  };
  return { content };
}

/** A name that has gone meanwhile is left out. */
async function asked<T>(
  names: readonly string[],
  ours: ReadonlySet<string>,
  ask: (name: string) => Promise<readonly T[] | undefined>,
): Promise<Readonly<Record<string, readonly T[]>>> {
  const found = await inParallel(
    names.filter((name) => ours.has(name)),
    sideBySide,
    async (name) => [name, await ask(name)] as const,
  );
  return Object.fromEntries(found.flatMap(([name, has]) => (has ? [[name, has]] : [])));
}
