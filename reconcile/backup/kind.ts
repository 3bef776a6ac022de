import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { labels } from '../../manifests/render/names.ts';
import { isNotInstalled } from '../interfaces/kube.ts';
import type { Kind } from '../stepping/kind.ts';
import { tickSeconds } from '../stepping/pause.ts';
import { hasWork, keyOf } from '../stepping/result.ts';
import { backupLister } from './list.ts';
import { nextBackupLook, secondsToNextBackup, worthAStep } from './looks.ts';
import type { BackupResult } from './step.ts';

/** What a pass must know of backups; where they stand among the kinds, the table says. */
export const backupKind = {
  lister: backupLister,
  worthAStep,
  async step(backups, context) {
    const { stepBackups } = await import('./pass.ts');
    const { items: clusters } = await context.lists.of<EtcdCluster>('cluster');
    return stepBackups(backups, { ...context, clusters });
  },
  dryRun: 'skipped',
  problem(error) {
    const cure = isNotInstalled(error)
      ? 'apply the CRDs and roles of this release (manifests/install)'
      : 'the next tick looks again';
    return `backups can't be listed, so none is taken: ${cure}`;
  },
  waits: {
    wakesOn: (results, now) => {
      const afterSeconds = secondsToNextBackup(results, now);
      const wakes = [
        { on: 'change', of: 'jobs' },
        { on: 'time', afterSeconds },
      ] as const;
      return results.filter(hasWork).map((result) => ({ key: keyOf(result), wakes }));
    },
    isAwaited: (results, now) => secondsToNextBackup(results, now) < tickSeconds,
    label: labels.backup,
    again: 'all',
  },
  next: nextBackupLook,
  shown: { as: 'backups', label: 'backup', metric: 'backup', data: ({ backup: _, ...rest }) => rest },
} as const satisfies Omit<Kind<EtcdBackup, BackupResult>, 'scope' | 'after'>;
