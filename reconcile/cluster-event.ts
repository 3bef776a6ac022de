import type { EtcdCluster } from '../manifests/api/etcd-cluster.ts';
import type { Event } from '../manifests/kube-types.ts';
import { type Kube, resources } from './kube.ts';

/** One line in `kubectl describe etcdcluster`. */
export interface ClusterNews {
  readonly type: 'Normal' | 'Warning';
  readonly action: string;
  readonly reason: string;
  readonly note: string;
}

/**
 * Writes an event about a cluster.
 *
 * @param id makes its name: two with the same one are refused as one that exists already.
 * @throws {KubeError}
 */
export async function writeEvent(
  kube: Kube,
  { metadata }: EtcdCluster,
  { type, action, reason, note }: ClusterNews,
  { id, at, signal }: { readonly id: string; readonly at: Date; readonly signal: AbortSignal },
): Promise<void> {
  const { name, namespace = '', uid = '' } = metadata;
  await kube.create<Event>(
    resources.events,
    {
      apiVersion: resources.events.apiVersion,
      kind: resources.events.kind,
      metadata: { name: `${name}.${id}`, namespace },
      eventTime: `${at.toISOString().slice(0, -1)}000Z`,
      reportingController: 'etcd.ratchet.dev/etcd-ratchet',
      reportingInstance: 'etcd-ratchet',
      action,
      reason,
      note: note.slice(0, 1000),
      type,
      regarding: { apiVersion: resources.clusters.apiVersion, kind: resources.clusters.kind, namespace, name, uid },
    },
    { signal },
  );
}
