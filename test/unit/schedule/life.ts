import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule, EtcdBackupScheduleSpec } from '../../../manifests/api/etcd-backup-schedule.ts';
import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import type { KindContext } from '../../../reconcile/stepping/kind.ts';
import { firstSteps } from '../../../reconcile/stepping/loop.ts';
import { createFakeKube, type FakeKube, type FakeRequest } from '../../support/fakes/kube.ts';
import { offerNamed } from '../../support/fakes/offered.ts';
import { kindContext } from '../../support/kind-context.ts';

/** A schedule's life over days, with a clock that tests move, and stand-ins for those that take and prune backups. */

export const start = '2026-03-01T00:00:30Z';

export interface Life {
  readonly kube: FakeKube;
  clock: Date;
  /** Throws before or after a request, as a dying process or a lost answer would. */
  fault: (request: FakeRequest, when: 'before' | 'after') => void;
  context(): KindContext;
  /** @returns when the next backup is due, or another look */
  tick(): Promise<Date | undefined>;
  /** One tick a minute, after each of which the work is done as `work` says. */
  run(minutes: number, work?: () => void): Promise<void>;
  /** Every backup under way ends, good or not; of that etcd cluster. */
  finish(good?: boolean, clusterID?: string): void;
  endPrune(result: object | string): void;
  schedule(): EtcdBackupSchedule;
  backups(): readonly string[];
  prunes(): readonly string[];
}

export const template: EtcdBackupScheduleSpec['template'] = {
  clusterName: 'orders',
  to: { object: 'gs://bucket/{{namespace}}/{{cluster}}/{{timestamp}}.db', gcs: { keySecretName: 'key' } },
};

export function createLife(spec: Partial<EtcdBackupScheduleSpec> = {}): Life {
  const kube = createFakeKube({
    clock: () => life.clock,
    before: (request) => life.fault(request, 'before'),
    after: (request) => life.fault(request, 'after'),
  });
  const life: Life = {
    kube,
    clock: new Date(start),
    fault: () => undefined,
    context: () => kindContext({ kube, namespace: 'default' }),
    async tick() {
      const { results = [] } = (await firstSteps('schedule', kinds.schedule, life.context())) ?? {};
      return kinds.schedule.next(results as Parameters<typeof kinds.schedule.next>[0]);
    },
    async run(minutes, work = () => life.finish()) {
      for (let minute = 0; minute < minutes; minute++) {
        life.clock = new Date(life.clock.getTime() + 60_000);
        await life.tick();
        work();
      }
    },
    finish(good = true, clusterID) {
      for (const backup of kube.stored<EtcdBackup>(resources.backups)) {
        if (backup.status?.finishedAt === undefined)
          kube.seed(resources.backups, ended(backup, life.clock, good, clusterID));
      }
    },
    endPrune(result) {
      for (const job of kube.stored<Job>(resources.jobs)) {
        if (job.status !== undefined) continue;
        kube.seed<Job>(resources.jobs, { ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } });
        kube.seed<Pod>(resources.pods, podOf(job, typeof result === 'string' ? result : JSON.stringify(result)));
      }
    },
    schedule: () => kube.stored<EtcdBackupSchedule>(resources.schedules)[0] as EtcdBackupSchedule,
    backups: () => kube.stored<EtcdBackup>(resources.backups).map(({ metadata }) => metadata.name),
    prunes: () => kube.stored<Job>(resources.jobs).map(({ metadata }) => metadata.name),
  };
  offerNamed(kube, 'default', template.to);
  kube.seed<EtcdBackupSchedule>(resources.schedules, {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackupSchedule',
    metadata: { namespace: 'default', name: 'nightly', uid: 'schedule-uid', generation: 1, creationTimestamp: start },
    spec: { schedule: '*/10 * * * *', template, ...spec },
  });
  return life;
}

function ended(backup: EtcdBackup, clock: Date, good: boolean, clusterID?: string): EtcdBackup {
  const at = clock.toISOString();
  const condition = { type: 'Ready', status: good ? 'True' : 'False', reason: good ? 'Verified' : 'Failed' } as const;
  return {
    ...backup,
    status: {
      observedGeneration: 1,
      finishedAt: at,
      settled: true,
      ...(clusterID !== undefined && { clusterID }),
      ...(good && { takenAt: at, object: `gs://bucket/${backup.metadata.name}.db` }),
      conditions: [{ ...condition, message: good ? 'proven' : 'the bucket is full', lastTransitionTime: at }],
    },
  };
}

function podOf({ metadata }: Job, message: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name: `${metadata.name}-x`,
      uid: `${metadata.uid}-pod`,
      labels: { 'batch.kubernetes.io/job-name': metadata.name },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: metadata.name, uid: metadata.uid ?? '', controller: true },
      ],
    },
    spec: { containers: [] },
    status: {
      containerStatuses: [
        { name: 'prune', ready: false, restartCount: 0, state: { terminated: { exitCode: 0, message } } },
      ],
    },
  } as Pod;
}
