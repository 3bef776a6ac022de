import { compareVersions, formatVersion, isHigher, parseVersion } from '../../../../manifests/api/version.ts';
import { type BackupWish, backupPolicy, type Occasion } from '../../../../manifests/render/backup-before.ts';
import { recordOf } from '../life.ts';
import { backupFinalizer } from '../marks.ts';
import type { Observation, Slot } from '../observation.ts';
import { hasBegun } from '../versions/begun.ts';

type Seen = Pick<Observation, 'cluster' | 'slots'>;

/**
 * Whether the spec asks for a higher version than some member has, and no roll to it has begun: then a backup still
 * holds what the lower one wrote.
 */
export function isUpgradeAhead({ cluster, slots }: Seen): boolean {
  const { version } = cluster.spec;
  return !hasBegun(version, slots) && givenTo(slots).some((given) => isHigher(version, given));
}

/** What members were given; of one without a peer, what its volume says that it ran. */
function givenTo(slots: readonly Slot[]): readonly string[] {
  return slots.flatMap((slot) => {
    if (slot.peer) return slot.peer.current ? slot.peer.inputs.version : [];
    const record = recordOf(slot);
    return record?.state === 'sealed' ? record.version : [];
  });
}

/** Whether the spec asks for no members, and no volume says yet that its member is to stop. */
function isHibernationAhead({ cluster, slots }: Seen): boolean {
  const ours = slots.filter(({ peer }) => peer?.current);
  return (
    cluster.spec.replicas === 0 && ours.length > 0 && slots.every((slot) => recordOf(slot)?.state !== 'hibernating')
  );
}

/**
 * Which backup holds what comes next; `undefined`: nothing is ahead that the spec wants a backup before. Before the
 * deletion of a cluster that sleeps, what it was put to sleep on is looked for.
 */
export function backupAhead(seen: Seen & Pick<Observation, 'hibernationBackup'>): BackupWish | undefined {
  const before = occasionAhead(seen);
  if (before === undefined || backupPolicy(seen.cluster, before) === 'Never') return undefined;
  if (before === 'upgrade') return { before, start: startOf(seen) };
  const { hibernationBackup } = seen;
  const isStored = before === 'deletion' && hibernationBackup?.kind === 'fit';
  return isStored ? { before, existing: hibernationBackup.backup.snapshot } : { before };
}

function startOf({ cluster, slots }: Seen): NonNullable<BackupWish['start']> {
  const given = givenTo(slots).map(parseVersion);
  const [lowest = parseVersion(cluster.spec.version)] = given.toSorted(compareVersions);
  const clusterId = slots.flatMap((slot) => recordOf(slot)?.clusterId ?? [])[0] ?? '';
  return { from: formatVersion(lowest), clusterId };
}

function occasionAhead(seen: Seen): Occasion | undefined {
  const { metadata, spec } = seen.cluster;
  if (metadata.deletionTimestamp !== undefined)
    return metadata.finalizers?.includes(backupFinalizer) ? 'deletion' : undefined;
  if (spec.replicas === 0) return isHibernationAhead(seen) ? 'hibernation' : undefined;
  return isUpgradeAhead(seen) ? 'upgrade' : undefined;
}
