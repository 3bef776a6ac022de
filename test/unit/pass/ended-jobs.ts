import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { annotations, labels } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeKube } from '../../support/fakes/kube.ts';
import { proof, record } from '../backup/scene.ts';

/**
 * What the Job controller, kubelet and the agent do: every Job of a backup or a schedule is done at once, and well.
 *
 * @param stay also the pods of Jobs that ended before are as they were then: the world's kubelet knows members only
 */
export function endJobs(kube: FakeKube, stay = false): void {
  for (const job of kube.stored<Job>(resources.jobs)) {
    const { name, namespace = '', uid = '', labels: given = {} } = job.metadata;
    const isOurs = given[labels.backup] !== undefined || given[labels.schedule] !== undefined;
    if (!isOurs || (job.status?.conditions && !stay)) continue;
    kube.seed<Job>(resources.jobs, { ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } });
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
    const terminated = { exitCode: 0, message: JSON.stringify(saidBy(job)) };
    kube.seed<Pod>(resources.pods, {
      metadata: {
        name: `${name}-x`,
        uid: `pod-${uid}`,
        namespace,
        labels: { 'batch.kubernetes.io/job-name': name },
        ownerReferences: [owner],
      },
      spec: { containers: [] },
      status: {
        containerStatuses: [
          {
            name: job.spec.template.spec.containers.at(-1)?.name ?? 'none',
            ready: false,
            restartCount: 0,
            state: { terminated },
          },
        ],
      },
    });
  }
}

function saidBy({ metadata: { name, annotations: noted, ownerReferences } }: Job): object {
  const object = noted?.[annotations.object];
  if (name.includes('-take-'))
    return { ok: true, operation: 'backup', record: { ...record, id: ownerReferences?.[0]?.uid, object } };
  return { ok: true, operation: 'compare', proof };
}
