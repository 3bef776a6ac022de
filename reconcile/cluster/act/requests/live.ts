import type { Offered } from '../../../../manifests/render/pod-template.ts';
import type { EtcdAdmin } from '../../../interfaces/etcd-admin.ts';
import { isReason, type KubeObject, type Resource } from '../../../interfaces/kube.ts';
import { conflict } from '../../../requests/refusals.ts';
import type { ActContext } from '../actions/context.ts';
import type { ObjectKind, ReadAt } from './read-at.ts';

/** What the live half of a request may use. */
export interface Live extends ActContext {
  /** Connects on first use; closed when the program ends. */
  etcdNow(): Promise<{ readonly etcd: EtcdAdmin; readonly endpoints: readonly string[] }>;
  /** Keeps what was read, so that it can be written back as a whole. A pod bears the name of its member. */
  keep(object: ObjectKind, name: string, found: KubeObject): ReadAt;
  /** What the installation has for members, asked once. */
  offered(): Promise<Offered>;
  /** What was kept under that version. */
  kept<T extends KubeObject>(version: ReadAt): T;
}

export async function getOne<T extends KubeObject>(
  { kube, cluster, signal }: Live,
  resource: Resource,
  name: string,
): Promise<T | undefined> {
  return kube.get<T>(resource, cluster.metadata.namespace, name, { signal });
}

/**
 * Writes back what was read, as it is to be now.
 *
 * @throws {KubeError} `Conflict` when others wrote to it since. `NotFound`, which wants a person, when it is still
 * there: a webhook may answer so, and looking again would go on for ever.
 * @throws {StepError} `Conflict` when it has gone since: to the API server that is a 404 as well.
 */
export async function writeBack<T extends KubeObject>(
  { kube, signal }: Live,
  resource: Resource,
  object: T,
): Promise<T> {
  const { name, namespace, uid } = object.metadata;
  try {
    return await kube.update<T>(resource, object, { signal });
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
    const found = await kube.get<T>(resource, namespace, name, { signal });
    if (found?.metadata.uid === uid) throw error;
    throw conflict(`${resource.kind} ${name} has gone since it was read`);
  }
}
