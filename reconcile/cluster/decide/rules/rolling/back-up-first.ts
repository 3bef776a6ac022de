import { formatVersion, parseVersion } from '../../../../../manifests/api/version.ts';
import { isUpgradeAhead } from '../../../know/backups/ahead.ts';
import type { Decision } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';
import { awaitBackup } from '../../await-backup.ts';
import { waitToUpgrade } from '../../wait-for-window.ts';
import { upgrade } from './upgrade.ts';

/**
 * Before the first member gets a higher version, a backup of what the lower one wrote: once a minor has run everywhere,
 * there is no way back but that. A version that is refused asks for none, and so does one
 * that comes after what members are still being given: the backup would be of what that replaces (I12).
 */
export function backUpFirst(situation: Situation): Decision | undefined {
  const { cluster, effective, awaitedBackup } = situation;
  const version = formatVersion(parseVersion(cluster.spec.version));
  const { pending } = effective;
  const target = pending?.to ?? effective.inputs.version;
  if (pending?.kind === 'settling') return undefined;
  if (awaitedBackup?.before !== 'upgrade' || target !== version || !isUpgradeAhead(situation)) return undefined;
  const held = waitToUpgrade(situation);
  if (held) return held;
  const begins = () => upgrade(situation)?.kind === 'act';
  return awaitBackup(situation, { before: 'upgrade', what: `the upgrade to ${version}`, begins });
}
