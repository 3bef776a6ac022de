import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import { isRestoredBy, restoredCluster } from '../../manifests/render/restored-cluster.ts';
import { type Kube, KubeError, resources } from '../interfaces/kube.ts';
import { inTheWay, type RestoreDecision } from './decide.ts';
import type { RestoreStatement } from './report.ts';

/** POST is the lock: a cluster of that name is never changed. */
export async function actOnRestore(
  restore: EtcdRestore,
  decision: Exclude<RestoreDecision, { readonly kind: 'rest' }>,
  { kube, signal }: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<{ readonly statement: RestoreStatement; readonly made: boolean }> {
  if (decision.kind === 'tell') return { statement: decision, made: false };
  const { name } = restore.spec.cluster;
  try {
    const wanted = restoredCluster(restore, decision.snapshot);
    const cluster = await kube.create<EtcdCluster>(resources.clusters, wanted, { signal });
    const message = `EtcdCluster ${name} is made, to be restored from ${decision.snapshot.object}`;
    return { statement: { reason: 'Restoring', message, cluster }, made: true };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.reason === 'AlreadyExists') return { statement: await madeMeanwhile(restore, kube, signal), made: false };
    if (error.class !== 'terminal') throw error;
    const message = `EtcdCluster ${name} is refused: ${error.message}`;
    return { statement: { reason: 'ClusterRefused', message }, made: false };
  }
}

async function madeMeanwhile(
  { metadata, spec }: EtcdRestore,
  kube: Kube,
  signal: AbortSignal,
): Promise<RestoreStatement> {
  const { name } = spec.cluster;
  const found = await kube.get<EtcdCluster>(resources.clusters, metadata.namespace, name, { signal });
  if (found && isRestoredBy(found, metadata.uid ?? ''))
    return { reason: 'Restoring', message: `EtcdCluster ${name} is made`, cluster: found };
  return found ? inTheWay(found) : { reason: 'ClusterLeaving', message: `an EtcdCluster ${name} came and went` };
}
