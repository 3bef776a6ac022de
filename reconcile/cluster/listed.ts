import { labels } from '../../manifests/build/names.ts';
import type { KubeObject } from '../kube.ts';

/** Whether the lists by label bring it. What bears the name of a member and is not listed is read by that name. */
export function isListed({ metadata }: KubeObject, cluster: string): boolean {
  return metadata.labels?.[labels.managedBy] === 'etcd-ratchet' && metadata.labels[labels.cluster] === cluster;
}
