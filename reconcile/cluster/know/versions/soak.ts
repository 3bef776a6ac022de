import { parseDuration } from '../../../../manifests/api/duration.ts';
import { isMinorBelow } from '../../../../manifests/api/version.ts';
import { timestamp } from '../../../time/timestamp.ts';
import { hasDeparted } from '../life.ts';
import type { Slot } from '../observation.ts';
import type { Situation } from '../situation.ts';

/** A minor that all members run but those that keep the one before for `spec.update.soak`. */
export interface Soak {
  readonly version: string;
  /** One; more where members were replaced meanwhile. */
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
 * without a downgrade. Another patch of that minor soaks anew.
 *
 * Guards I6.
 */
export function soakOf({
  cluster,
  slots,
  effective,
  at,
}: Pick<Situation, 'cluster' | 'slots' | 'effective' | 'at'>): Soak | undefined {
  const length = cluster.spec.update?.soak;
  if (length === undefined) return undefined;
  const { version } = effective.inputs;
  const ours = slots.filter((slot) => slot.peer?.current && !hasDeparted(slot));
  const keepers = ours.filter(({ peer }) => isMinorBelow(peer?.inputs.version, version));
  if (ours.length < fewest || keepers.length === 0 || keepers.length === ours.length) return undefined;
  const begun = cluster.status?.soak?.version === version ? cluster.status.soak.since : undefined;
  if (begun === undefined && keepers.length > 1) return undefined;
  const since = begun ?? timestamp(at);
  return { version, keepers, since, until: new Date(Date.parse(since) + parseDuration(length)) };
}
