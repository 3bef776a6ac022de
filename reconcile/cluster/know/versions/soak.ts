import { parseDuration } from '../../../../manifests/api/duration.ts';
import { isMinorBelow, isVersion } from '../../../../manifests/api/version.ts';
import { timestamp } from '../../../time/timestamp.ts';
import { hasDeparted } from '../life.ts';
import { leads } from '../membership/leadership.ts';
import type { Slot } from '../observation.ts';
import type { Situation } from '../situation.ts';

/** A minor that all members run but those that keep the one before for `spec.update.soak`. */
export interface Soak {
  readonly version: string;
  /** One: the leader, if it may be. More where members were replaced since it began. */
  readonly keepers: readonly Slot[];
  /** RFC 3339. Until that is written, each look begins anew. */
  readonly since: string;
  /** When the keepers may follow. */
  readonly until: Date;
}

/** In a smaller cluster the one that stays behind would be half of it, or all. */
const fewest = 3;

/**
 * etcd raises its cluster version when every member runs the next minor: as long as one does not, all can go back
 * without a downgrade. Once it is raised nothing is left to keep. Another patch of that minor soaks anew.
 *
 * Guards I6.
 */
export function soakOf({
  cluster,
  slots,
  effective,
  clusterVersion,
  at,
}: Pick<Situation, 'cluster' | 'slots' | 'effective' | 'clusterVersion' | 'at'>): Soak | undefined {
  const length = cluster.spec.update?.soak;
  if (length === undefined) return undefined;
  const { version } = effective.inputs;
  const ours = slots.filter((slot) => slot.peer?.current && !hasDeparted(slot));
  const behind = ours.filter(({ peer }) => isMinorBelow(peer?.inputs.version, version));
  // A member that was removed comes back: without it the cluster is not smaller than the spec asks.
  if (Math.max(ours.length, effective.replicas) < fewest || behind.length === ours.length) return undefined;
  if (isVersion(clusterVersion) && !isMinorBelow(clusterVersion, version)) return undefined;
  const begun = cluster.status?.soak?.version === version ? cluster.status.soak.since : undefined;
  const keepers = begun === undefined ? lastOf(behind) : behind;
  if (keepers.length === 0) return undefined;
  // A clock that was ahead when it began makes it no longer.
  const since = begun !== undefined && Date.parse(begun) <= at.getTime() ? begun : timestamp(at);
  return { version, keepers, since, until: new Date(Date.parse(since) + parseDuration(length)) };
}

/** The one that a roll would reach last; a member that is down proves least about the way back. */
function lastOf(behind: readonly Slot[]): readonly Slot[] {
  const last = behind.find(leads) ?? behind.find(({ endpoint }) => endpoint.kind === 'known') ?? behind[0];
  return last ? [last] : [];
}
