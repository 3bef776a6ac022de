import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Job, Pod } from '../../manifests/kube-types.ts';
import { annotations, backupJobName } from '../../manifests/render/names.ts';
import { isControlledBy } from '../../manifests/render/owner-reference.ts';
import { type Kube, resources } from '../kube.ts';
import { stateOfJob } from './job-state.ts';
import { attemptOf, type BackupSituation, type JobView } from './situation.ts';

export interface ObserveContext {
  readonly kube: Kube;
  /** Those that were listed in this pass. */
  readonly clusters: readonly EtcdCluster[];
  readonly signal: AbortSignal;
}

/** A GET for its Job, and where there is one a LIST for the Job's pod. @throws {KubeError} */
export async function observeBackup(
  backup: EtcdBackup,
  { kube, clusters, signal }: ObserveContext,
): Promise<BackupSituation> {
  const { namespace, name } = backup.metadata;
  const attempt = attemptOf(backup);
  const cluster = clusters.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === backup.spec.clusterName,
  );
  const found = await kube.get<Job>(resources.jobs, namespace, backupJobName(name, attempt.stage, attempt.number), {
    signal,
  });
  const job = found && (await jobView(kube, found, backup, signal));
  return { backup, cluster, attempt, job, at: kube.now() ?? new Date() };
}

async function jobView(kube: Kube, job: Job, backup: EtcdBackup, signal: AbortSignal): Promise<JobView> {
  const { name, namespace, uid = '', creationTimestamp = '' } = job.metadata;
  const ours = isControlledBy(job, backup.metadata.uid ?? '');
  const pods = ours
    ? await kube.list<Pod>(resources.pods, {
        namespace,
        labelSelector: `batch.kubernetes.io/job-name=${name}`,
        limit: 10,
        signal,
      })
    : { items: [] };
  return {
    name,
    uid,
    ours,
    object: job.metadata.annotations?.[annotations.object]?.slice(0, 1100) ?? '',
    startedAt: creationTimestamp,
    state: stateOfJob(
      job,
      pods.items.find((pod) => isControlledBy(pod, uid)),
    ),
  };
}
