import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import { unitsBeside } from '../fleet/unit.ts';
import { isReason, resources } from '../interfaces/kube.ts';
import type { Kind } from '../stepping/kind.ts';
import type { RestoreResult } from './pass.ts';

/** What a pass must know of restores; where they stand among the kinds, the table says. */
export const restoreKind = {
  changes: { cluster: ['acted'] },
  lister:
    ({ kube, namespace, signal }) =>
    () =>
      kube.list<EtcdRestore>(resources.restores, { namespace, signal }),
  worthAStep: (restores) =>
    restores.filter(({ metadata, status }) => !status?.finishedAt && !metadata.deletionTimestamp),
  units: (restores, { lists }) => unitsBeside(restores, lists, ({ spec }) => spec.cluster.name),
  async step(restores, context) {
    const { stepRestores } = await import('./pass.ts');
    const { lists } = context;
    return stepRestores(restores, {
      ...context,
      clusters: lists.known('cluster'),
      listBackups: () => lists.fresh<EtcdBackup>('backup'),
    });
  },
  // Before its CRDs are installed there are none.
  problem: (error) => (isReason(error, 'NotFound') ? 'restores are not installed' : 'restores were not looked at'),
} as const satisfies Omit<Kind<EtcdRestore, RestoreResult>, 'scope' | 'after'>;
