import { inheritedIn } from '../adoption/inherited.ts';
import { memberOf } from '../health/health.ts';
import type { Observation } from '../observation.ts';
import { quorumOf } from './quorum.ts';
import { votersOf } from './voters.ts';

/**
 * etcd adds a member only when enough voters for a quorum of one more have been connected for 5 s (HealthInterval and
 * `mayAddMember` in `server/etcdserver/server.go`; before 3.5.30 and 3.6.11 all voters: these refuse, and are asked
 * again). Kubelet tells starts to the second, and a connection takes a moment.
 */
const connectedAfterMs = 6_500;

/** In how many milliseconds etcd will add a member; not above 0: now, as far as is known. */
export function connectedIn({
  slots,
  membership,
  at,
  ...others
}: Pick<Observation, 'slots' | 'membership' | 'at' | 'inherited'>): number {
  const voters = membership.kind === 'known' ? votersOf(membership.members) : [];
  // From a node whose clock is ahead, a start may seem to come: it proves nothing.
  const inherited = inheritedIn({ membership, ...others }).map(() => Number.MAX_SAFE_INTEGER);
  const ages = slots
    .filter((slot) => memberOf(slot, voters))
    .map(({ pod }) => at.getTime() - (pod?.container.startedAt?.getTime() ?? 0))
    .concat(inherited)
    .map((age) => (age < 0 ? Number.MAX_SAFE_INTEGER : age))
    .toSorted((a, b) => b - a);
  const youngest = voters.length > 1 ? ages[quorumOf(voters.length + 1) - 1] : undefined;
  return youngest === undefined ? 0 : connectedAfterMs - youngest;
}
