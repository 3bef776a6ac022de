import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../manifests/render/names.ts';

/** A person has suspended all steps. */
export function isUnmanaged({ spec, metadata }: EtcdCluster): boolean {
  return spec.suspend === true || metadata.annotations?.[annotations.paused] !== undefined;
}
