import type { TickOptions } from './options.ts';

/** Which part of the Kubernetes cluster was asked for. */
export type Asked = Pick<TickOptions, 'namespace' | 'fleet' | 'clusters'>;

/** In place of a result, where nothing that was asked for is there. */
export function nothingHere({ namespace, fleet, clusters }: Asked): string {
  const [cluster] = clusters;
  if (cluster) return none('EtcdCluster', 'etcdclusters', cluster);
  if (fleet) return none('EtcdFleet', 'etcdfleets', fleet);
  if (namespace === undefined) return 'there is no EtcdFleet and no EtcdCluster here';
  return `there is no EtcdFleet and no EtcdCluster in namespace ${namespace}, if there is such a namespace: kubectl get namespace ${namespace}`;
}

function none(
  kind: string,
  plural: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
) {
  const all = `kubectl get ${plural}.etcd.ratchet.dev --all-namespaces`;
  return `there is no ${kind} ${namespace}/${name}; those that there are, and their namespaces: ${all}`;
}
