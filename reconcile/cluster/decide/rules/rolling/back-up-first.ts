import { formatVersion, parseVersion } from '../../../../../manifests/api/version.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';
import { isUpgradeAhead } from '../../../know/upgrade-ahead.ts';
import { waitForRoom } from '../../wait-for-room.ts';

/**
 * Before the first member gets a higher version, a backup of what the lower one wrote: once a minor has run everywhere,
 * there is no way back but that. A version that is refused asks for none.
 */
export function backUpFirst(situation: Situation): Decision | undefined {
  const { cluster, effective, upgradeBackup, crowdedBy } = situation;
  const version = formatVersion(parseVersion(cluster.spec.version));
  const target = effective.pending?.to ?? effective.inputs.version;
  if (!upgradeBackup || target !== version || !isUpgradeAhead(situation)) return undefined;
  if (crowdedBy) return waitForRoom(situation);
  const isRequired = cluster.spec.backup?.beforeUpgrade !== 'BestEffort';
  const { namespace = 'default', name: clusterName } = cluster.metadata;
  const without = `or let the upgrade go on without it: set spec.backup.beforeUpgrade of EtcdCluster ${clusterName} to Never`;
  if (upgradeBackup.kind === 'unknown') {
    if (!isRequired) return undefined;
    return refuse(
      'BackupsNotPermitted',
      `the upgrade to ${version} waits for a backup, and backups cannot be read: ${upgradeBackup.cause}`,
      `apply the roles and resource definitions of this release of etcd-ratchet (manifests/install); ${without}`,
    );
  }
  const { name } = upgradeBackup;
  if (upgradeBackup.kind === 'missing')
    return act(
      { kind: 'back-up', name, version },
      'BackingUp',
      `backing up before the upgrade to ${version}: EtcdBackup ${name}`,
    );
  switch (upgradeBackup.state) {
    case 'good':
      return undefined;
    case 'under-way':
      return wait(
        'BackingUp',
        `the upgrade to ${version} begins when EtcdBackup ${name} is Ready: ${upgradeBackup.message}`,
        ...soon,
      );
    case 'failed':
    case 'foreign': {
      if (!isRequired) return undefined;
      const what = upgradeBackup.state === 'failed' ? 'has failed' : 'was made by another';
      return refuse(
        'BackupFailed',
        `the upgrade to ${version} waits for a backup, and EtcdBackup ${name} ${what}: ${upgradeBackup.message}`,
        `correct that, then kubectl -n ${namespace} delete etcdbackup ${name}: it is made anew; ${without}`,
      );
    }
  }
}

/** Its Job tells its end to the steps of backups. */
const soon = [{ on: 'time', afterSeconds: 3 }] as const;
