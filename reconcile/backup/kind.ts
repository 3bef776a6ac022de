import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { labels } from '../../manifests/render/names.ts';
import { unitsBeside } from '../fleet/unit.ts';
import { isNotInstalled } from '../interfaces/kube.ts';
import type { Kind } from '../stepping/kind.ts';
import { pauseSeconds, tickSeconds } from '../stepping/pause.ts';
import { hasWork, keyOf } from '../stepping/result.ts';
import { earliest, laterLook } from '../time/later-look.ts';
import { backupLister } from './list.ts';
import { isSettled } from './situation.ts';
import type { BackupResult } from './step.ts';

/** What a pass must know of backups; where they stand among the kinds, the table says. */
export const backupKind = {
  lister: backupLister,
  worthAStep,
  units: (backups, { lists }) => unitsBeside(backups, lists, ({ spec }) => spec.clusterName),
  async step(backups, context) {
    const { stepBackups } = await import('./pass.ts');
    const { items: clusters } = await context.lists.of<EtcdCluster>('cluster');
    // That list may have left their namespace out just now: then their clusters are unknown, not absent.
    const leftOut = context.kube.leftOut();
    const seen = backups.filter(({ metadata }) => !leftOut.has(metadata.namespace ?? ''));
    return stepBackups(seen, { ...context, clusters });
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

/** What an earlier release left without its mark is marked by so many a step. */
const mostMarked = 100;

/** What a step is worth: not what is on its way out. */
function worthAStep(items: readonly EtcdBackup[]): readonly EtcdBackup[] {
  const here = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const [unmarked, open] = [here.filter(isSettled), here.filter((one) => !isSettled(one))];
  return [...open, ...unmarked.filter(({ status }) => status?.settled === undefined).slice(0, mostMarked)];
}

/** Seconds to the next look at backups under way: rarer while nothing changes, because a watch tells a Job's end. */
function secondsToNextBackup(results: readonly BackupResult[], now: Date): number {
  const waiting = results.filter(({ workRemains }) => workRemains);
  const times = waiting.flatMap(({ backup: { metadata, status } }) => [
    Date.parse(metadata.creationTimestamp ?? ''),
    Date.parse(status?.attempt?.startedAt ?? ''),
    ...(status?.conditions ?? []).map((one) => Date.parse(one.lastTransitionTime)),
  ]);
  const latest = Math.max(...times.filter((time) => !Number.isNaN(time)));
  const quiet = Math.max(0, (now.getTime() - latest) / 1000);
  const asked = waiting.flatMap(({ afterSeconds }) => afterSeconds ?? []);
  return Math.max(1, Math.min(...asked, Math.max(5, pauseSeconds(quiet))));
}

/** When one that is under way is worth a look of its own, where no follow-up waits for it. */
export function nextBackupLook(results: readonly BackupResult[], now: Date): Date | undefined {
  const times = results
    .filter(({ workRemains }) => workRemains)
    .map(({ afterSeconds = 0, backup: { metadata, status } }) => {
      const look = laterLook(status?.attempt?.startedAt ?? metadata.creationTimestamp, now);
      return new Date(Math.max(look.getTime(), now.getTime() + afterSeconds * 1000));
    });
  return earliest(...times);
}
