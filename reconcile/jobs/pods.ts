import type { Job, Pod } from '../../manifests/kube-types.ts';
import { type Kube, resources } from '../interfaces/kube.ts';

/** By their label, as they are now: all, since any pod may have it. Its controller tells whether it is the Job's. */
export async function podsOfJob(kube: Kube, { metadata }: Job, signal: AbortSignal): Promise<readonly Pod[]> {
  const { namespace, name } = metadata;
  const labelSelector = `batch.kubernetes.io/job-name=${name}`;
  return (await kube.list<Pod>(resources.pods, { namespace, labelSelector, signal })).items;
}
