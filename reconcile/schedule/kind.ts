import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import { unitsBeside } from '../fleet/unit.ts';
import { isReason, resources } from '../interfaces/kube.ts';
import { ownImage } from '../jobs/own-image.ts';
import type { Kind } from '../stepping/kind.ts';
import { earliest } from '../time/later-look.ts';
import type { ScheduleResult } from './pass.ts';

/** What a pass must know of schedules; where they stand among the kinds, the table says. */
export const scheduleKind = {
  // What failed may have acted.
  changes: { backup: ['acted', 'failed', 'lost'] },
  lister:
    ({ kube, namespace, signal }) =>
    () =>
      kube.list<EtcdBackupSchedule>(resources.schedules, { namespace, signal }),
  units: (schedules, { lists }) => unitsBeside(schedules, lists, ({ spec }) => spec.template.clusterName),
  async step(schedules, context) {
    const { kube, holder, signal, lists } = context;
    const { stepSchedules } = await import('./pass.ts');
    const image = () => ownImage(kube, holder, signal);
    return stepSchedules(schedules, { ...context, image, listBackups: () => lists.of('backup') });
  },
  // Before its CRDs are installed there are none.
  problem: (error) =>
    isReason(error, 'NotFound') ? 'schedules of backups are not installed' : 'schedules were not looked at',
  next: (results) => earliest(...results.map(({ nextAt }) => nextAt)),
} as const satisfies Omit<Kind<EtcdBackupSchedule, ScheduleResult>, 'scope' | 'after'>;
