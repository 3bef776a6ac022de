import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { volumesFinalizer } from '../marks.ts';
import type { ActContext } from './context.ts';

/** With the resourceVersion of the claim: nothing happened since. The report then finds a newer one, and reads it. */
export async function setFinalizer(
  { present }: ActionOf<'set-finalizer'>,
  { kube, cluster, signal }: ActContext,
): Promise<void> {
  const others = (cluster.metadata.finalizers ?? []).filter((finalizer) => finalizer !== volumesFinalizer);
  const finalizers = present ? [...others, volumesFinalizer] : others;
  await kube.update<EtcdCluster>(
    resources.clusters,
    { ...cluster, metadata: { ...cluster.metadata, finalizers } },
    { signal },
  );
}
