import type { ObjectMeta } from '../../manifests/api/metadata.ts';
import type { Event } from '../../manifests/kube-types.ts';
import { type Kube, type Resource, resources } from '../interfaces/kube.ts';

/** One line in `kubectl describe`. */
export interface ClusterNews {
  readonly type: 'Normal' | 'Warning';
  readonly action: string;
  readonly reason: string;
  readonly note: string;
}

interface EventOptions {
  readonly id: string;
  readonly at: Date;
  readonly signal: AbortSignal;
  /** What kind it is about. */
  readonly about?: Resource;
}

/** Writes an event about a resource of ours. @param id makes its name, so that it is told once @throws {KubeError} */
export async function writeEvent(
  kube: Kube,
  { metadata }: { readonly metadata: ObjectMeta },
  { type, action, reason, note }: ClusterNews,
  { id, at, signal, about = resources.clusters }: EventOptions,
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
      regarding: { apiVersion: about.apiVersion, kind: about.kind, namespace, name, uid },
    },
    { signal },
  );
}
