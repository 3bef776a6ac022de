import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { Egress } from '../../../../manifests/egress/egress.ts';
import type { NameAllowance } from '../../../../manifests/render/certificate-allowance.ts';
import { labels } from '../../../../manifests/render/names.ts';
import { isReason, type Kube, type KubeObject, type Preconditions, type Resource } from '../../../interfaces/kube.ts';
import { withCure } from '../../../reasons/cure.ts';
import type { EtcdWay } from '../../etcd-way.ts';
import { moved, needsPerson } from '../../know/outcome.ts';

/** What an action may use. Everything it relies on it reads again, live, after the lease was taken. */
export interface ActContext {
  readonly kube: Kube;
  /** What of it changes something is asked once; what came of it is seen by the next step. */
  readonly etcd: EtcdWay;
  /** As it was when the lease was taken. */
  readonly cluster: EtcdCluster;
  /** What issuers may be asked for besides the cluster's own names. */
  readonly nameAllowances?: readonly NameAllowance[];
  /** Where Jobs of restores may go. */
  readonly egress?: Egress;
  /** Aborts at the lease's deadline. */
  readonly signal: AbortSignal;
}

/** That a deletion is of this very object, as it was read: one that has changed since, or a namesake, stays. */
export function preconditionsOf({
  metadata: { uid = '', resourceVersion },
}: KubeObject): Preconditions & { readonly uid: string } {
  return { uid, ...(resourceVersion !== undefined && { resourceVersion }) };
}

/** What bears this cluster's label, now. */
async function listOurs<T extends KubeObject>(
  { kube, cluster, signal }: ActContext,
  resource: Resource,
): Promise<readonly T[]> {
  const { name, namespace = '' } = cluster.metadata;
  const labelSelector = `${labels.cluster}=${name}`;
  return (await kube.list<T>(resource, { namespace, labelSelector, signal })).items;
}

/** What bears this cluster's label now, and what bears one of these names, whatever its labels are. */
export async function listOursAnd<T extends KubeObject>(
  context: ActContext,
  resource: Resource,
  names: readonly string[],
): Promise<readonly T[]> {
  const { kube, cluster, signal } = context;
  const listed = await listOurs<T>(context, resource);
  const unlisted = names.filter((name) => !listed.some(({ metadata }) => metadata.name === name));
  const read = await Promise.all(
    unlisted.map((name) => kube.get<T>(resource, cluster.metadata.namespace, name, { signal })),
  );
  return [...listed, ...read.flatMap((found) => found ?? [])];
}

/**
 * Creates an object, once, however often it is carried out: an existing object is fine when it is ours.
 *
 * Always by POST, so that a late invocation fails at the API server instead of changing what others did since.
 *
 * @throws {StepError} `NameTaken` when an object of another owner has the name: it is never taken over.
 */
export async function createOurs<T extends KubeObject>(
  { kube, signal }: ActContext,
  resource: Resource,
  wanted: T,
  isOurs: (found: T) => boolean,
): Promise<{ readonly object: T; readonly existed: boolean }> {
  try {
    return { object: await kube.create<T>(resource, wanted, { signal }), existed: false };
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  const { namespace, name } = wanted.metadata;
  const found = await kube.get<T>(resource, namespace, name, { signal });
  if (!found) throw moved(`${resource.kind} ${name} came and went`);
  if (!isOurs(found)) throw nameTaken(resource, name);
  return { object: found, existed: true };
}

export function nameTaken({ kind }: Resource, name: string): Error {
  return needsPerson(
    'NameTaken',
    withCure(
      `there is a ${kind} named ${name} already that is not this cluster's; it is left alone`,
      'rename or delete it',
    ),
  );
}
