import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf, Ref } from '../actions.ts';
import { moved } from '../outcome.ts';
import { isReady } from '../pods.ts';
import { type ActContext, liveVolume } from './context.ts';
import { writeRecord } from './volume-state.ts';

/**
 * The Job has done what it was made for. First its volume says so: from then on nobody makes another one, because others may have
 * been let in. Then it goes.
 */
export async function concludeRecovery(action: ActionOf<'conclude-recovery'>, context: ActContext): Promise<void> {
  const { volume, job, pod, id, attempt } = action;
  const { kube, cluster, signal } = context;
  const { namespace } = cluster.metadata;
  const [foundJob, foundPod, { claim, record }] = await Promise.all([
    kube.get<Job>(resources.jobs, namespace, job.name, { signal }),
    kube.get<Pod>(resources.pods, namespace, pod.name, { signal }),
    liveVolume(context, volume.name),
  ]);
  if (foundJob?.metadata.uid !== job.uid || foundPod?.metadata.uid !== pod.uid || !isReady(foundPod))
    throw moved(`Job ${job.name} has not come to its end yet`);
  if (claim.metadata.uid !== volume.uid) throw moved(`volume ${volume.name} is another one than was looked at`);
  const { recovery } = record;
  if (record.state !== 'recovering' || recovery?.id !== id || recovery.attempt !== attempt)
    throw moved(`volume ${volume.name} is ${record.state}, or at another attempt`);
  await writeRecord(claim, { ...record, state: 'recovered' }, context);
  await deleteJob(job, context);
}

/** With its pod, which ends as any other does. */
export async function deleteRecoveryJob({ job }: ActionOf<'delete-recovery-job'>, context: ActContext): Promise<void> {
  await deleteJob(job, context);
}

async function deleteJob({ name, uid }: Ref, { kube, cluster, signal }: ActContext): Promise<void> {
  const preconditions = { uid };
  await kube.delete(resources.jobs, cluster.metadata.namespace, name, {
    preconditions,
    propagation: 'Background',
    signal,
  });
}
