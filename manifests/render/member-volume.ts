import type { PersistentVolumeClaim } from '../kube-types.ts';
import { annotations, labels, ordinalOf } from './names.ts';

/** Volumes that belong to members alone: a backup is neither written to one nor read from one. */

/** The cluster, of these, whose member has a PersistentVolumeClaim of this name, or would have. */
export function clusterOfVolume(claimName: string, clusters: readonly string[]): string | undefined {
  return clusters.find((cluster) => ordinalOf(cluster, claimName) !== undefined);
}

/** Whether it was made for a member, by its label or by what it remembers: also where its cluster is gone. */
export function isMemberVolume({ metadata }: PersistentVolumeClaim): boolean {
  const { labels: own = {}, annotations: remembers = {} } = metadata;
  const isLabelled = own[labels.managedBy] === 'etcd-ratchet' && own[labels.cluster] !== undefined;
  return isLabelled || remembers[annotations.token] !== undefined;
}
