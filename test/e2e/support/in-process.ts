import { randomBytes } from 'node:crypto';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { connectEtcd } from '../../../reconcile/clients/etcd.ts';
import { servedFingerprint } from '../../../reconcile/clients/served-fingerprint.ts';
import { stepClusters } from '../../../reconcile/cluster/pass.ts';
import type { ClusterResult } from '../../../reconcile/cluster/result.ts';
import type { Kube } from '../../../reconcile/interfaces/kube.ts';
import { only } from '../../../reconcile/objects/list-in.ts';

/** One step for each of these clusters without a process of its own, where hundreds are wanted. */
export function stepOnce(kube: Kube, clusters: readonly EtcdCluster[]): Promise<ClusterResult[]> {
  const id = randomBytes(8).toString('hex');
  return stepClusters(
    {
      kube,
      etcd: async (tls) => connectEtcd(tls ? { tls } : {}),
      wire: servedFingerprint,
      holder: { pod: `test/${id}`, uid: id },
      nonce: () => randomBytes(16).toString('hex'),
      log: () => {},
      dryRun: false,
      signal: AbortSignal.timeout(30_000),
    },
    { namespaces: only(clusters[0]?.metadata.namespace), clusters },
  );
}
