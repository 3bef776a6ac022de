import type { Job, Pod } from '../../manifests/kube-types.ts';
import { type Kube, resources } from '../interfaces/kube.ts';

/** There is one, or the next attempt beside it: our Jobs are not parallel. */
const most = 10;

/** By their label, as they are now. Any pod may have that label: its controller tells whether it is the Job's. */
export async function podsOfJob(kube: Kube, { metadata }: Job, signal: AbortSignal): Promise<readonly Pod[]> {
  const { namespace, name } = metadata;
  const labelSelector = `batch.kubernetes.io/job-name=${name}`;
  return (await kube.list<Pod>(resources.pods, { namespace, labelSelector, limit: most, signal })).items;
}
