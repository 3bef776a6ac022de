import assert from 'node:assert/strict';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { type BackupWish, backupBefore, backupBeforeName } from '../../../manifests/render/backup-before.ts';
import { createBackup } from '../../../reconcile/cluster/act/requests/backup.ts';
import { backupAhead } from '../../../reconcile/cluster/know/backup-ahead.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { resources } from '../../../reconcile/kube.ts';
import type { Contracts } from './contract.ts';
import { member } from './members.ts';
import { clusterName, type Scene } from './scene.ts';

/** A member, whose cluster is to get a higher version after a backup; and maybe an EtcdBackup of that name. */
const upgrading =
  (change?: (made: EtcdBackup) => EtcdBackup) =>
  async (scene: Scene): Promise<void> => {
    await member(scene);
    const found = await scene.read<EtcdCluster>('cluster', clusterName);
    const backup = { to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } };
    const cluster = await scene.kube.update<EtcdCluster>(resources.clusters, {
      ...found,
      spec: { ...found.spec, version: '3.7.3', backup },
    });
    if (change)
      await scene.make<EtcdBackup>(
        resources.backups,
        change(backupBefore(cluster, wishIn((await scene.look()).observation))),
      );
  };

function wishIn(seen: Observation): BackupWish {
  return backupAhead(seen) ?? assert.fail('no upgrade is ahead');
}

const asks = (seen: Observation) => {
  const wish = wishIn(seen);
  return createBackup({ name: backupBeforeName(seen.cluster, wish), wish });
};
/** When it was made is the API server's word. */
const also = ({ awaitedBackup }: Observation) =>
  awaitedBackup?.kind === 'known' ? { ...awaitedBackup, askedAt: undefined } : awaitedBackup;

export const backup = {
  createBackup: [
    { when: 'there is none', start: upgrading(), asks, also },
    { when: 'it is there', start: upgrading((made) => made), asks, also },
    {
      when: 'a person made one of that name',
      start: upgrading((made) => ({ ...made, metadata: { ...made.metadata, annotations: {} } })),
      asks,
      also,
      refused: 'terminal NameTaken',
    },
    {
      when: 'one of that name is of another cluster',
      start: upgrading((made) => ({ ...made, spec: { ...made.spec, clusterName: 'another' } })),
      asks,
      also,
      refused: 'terminal NameTaken',
    },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
