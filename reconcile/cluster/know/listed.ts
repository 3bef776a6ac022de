import { labels } from '../../../manifests/render/names.ts';
import type { KubeObject } from '../../interfaces/kube.ts';

/** Whether the lists by label return it. An object with a member's name that is not listed is read by that name. */
export function isListed({ metadata }: KubeObject, cluster: string): boolean {
  return metadata.labels?.[labels.managedBy] === 'etcd-ratchet' && metadata.labels[labels.cluster] === cluster;
}
