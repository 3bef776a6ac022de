import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { backupBefore, backupBeforeName } from '../../../manifests/render/backup-before.ts';
import { createBackup } from '../../../reconcile/cluster/act/requests/backup.ts';
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
    if (change) await scene.make<EtcdBackup>(resources.backups, change(backupBefore(cluster, 'upgrade')));
  };

const asks = ({ cluster }: Observation) =>
  createBackup({ name: backupBeforeName(cluster, 'upgrade'), before: 'upgrade' });
const also = ({ awaitedBackup }: Observation) => awaitedBackup;

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
