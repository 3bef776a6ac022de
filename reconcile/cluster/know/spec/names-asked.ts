import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';

/** Whether the spec asks members of mode CertManager to let in certificates by names of the cluster's own. */
export function asksForNames({ spec: { tls } }: Pick<EtcdCluster, 'spec'>): boolean {
  return tls?.mode === 'CertManager' && tls.certManager?.allowedNames === 'Own';
}
