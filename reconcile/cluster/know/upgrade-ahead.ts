import { compareVersions, parseVersion } from '../../../manifests/api/version.ts';
import { backupBeforeUpgradeName } from '../../../manifests/render/backup-before-upgrade.ts';
import { recordOf } from './life.ts';
import type { Observation } from './observation.ts';

/**
 * Whether the spec asks for a higher version that no member has begun to get: then a backup still holds what the lower
 * one wrote.
 */
export function isUpgradeAhead({ cluster, slots }: Pick<Observation, 'cluster' | 'slots'>): boolean {
  const wanted = parseVersion(cluster.spec.version);
  const ours = slots.filter(({ peer }) => peer?.current);
  return (
    ours.length > 0 &&
    ours.every((slot) => {
      const { nextVersion } = recordOf(slot) ?? {};
      const given = slot.peer?.inputs.version ?? cluster.spec.version;
      return nextVersion === undefined && compareVersions(parseVersion(given), wanted) < 0;
    })
  );
}

/** The name of the EtcdBackup that holds the upgrade; `undefined`: none is ahead, or the spec asks for no backup. */
export function backupAhead(seen: Pick<Observation, 'cluster' | 'slots'>): string | undefined {
  const { beforeUpgrade = 'Never' } = seen.cluster.spec.backup ?? {};
  return beforeUpgrade === 'Never' || !isUpgradeAhead(seen) ? undefined : backupBeforeUpgradeName(seen.cluster);
}
