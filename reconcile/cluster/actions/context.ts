import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { labels } from '../../../manifests/build/names.ts';
import { isControlledBy } from '../../../manifests/build/owner-reference.ts';
import { readVolumeRecord, type VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { isReason, type Kube, type KubeObject, type Preconditions, type Resource, resources } from '../../kube.ts';
import type { Ref } from '../actions.ts';
import type { EtcdWay } from '../etcd-way.ts';
import { moved, needsPerson } from '../outcome.ts';

/** What an action may use. Everything it relies on it reads again, live, after the claim. */
export interface ActContext {
  readonly kube: Kube;
  /** What of it changes something is asked once; what came of it is seen by the next step. */
  readonly etcd: EtcdWay;
  /** As it was claimed. */
  readonly cluster: EtcdCluster;
  /** Aborts at the claim's deadline. */
  readonly signal: AbortSignal;
}

/** @throws {StepError} when the peer is gone, or belongs to an earlier namesake of the cluster. */
export async function livePeer({ kube, cluster, signal }: ActContext, name: string): Promise<EtcdPeer> {
  const peer = await kube.get<EtcdPeer>(resources.peers, cluster.metadata.namespace, name, { signal });
  if (!peer || peer.metadata.deletionTimestamp !== undefined || !isControlledBy(peer, cluster.metadata.uid ?? '')) {
    throw moved(`peer ${name} has gone since it was looked at`);
  }
  return peer;
}

/** A claim, and what its annotations say. */
export interface LiveVolume {
  readonly claim: PersistentVolumeClaim;
  readonly record: VolumeRecord;
}

/** @throws {StepError} when the volume is gone or going, or its annotations cannot be read. */
export async function liveVolume({ kube, cluster, signal }: ActContext, name: string): Promise<LiveVolume> {
  const claim = await kube.get<PersistentVolumeClaim>(resources.volumeClaims, cluster.metadata.namespace, name, {
    signal,
  });
  if (!claim || claim.metadata.deletionTimestamp !== undefined)
    throw moved(`volume ${name} has gone since it was looked at`);
  return withRecord(claim);
}

/** The volume that was looked at, also on its way out; `undefined` when it has gone. @throws {StepError} when it can't be read. */
export async function volumeAsSeen(
  { kube, cluster, signal }: ActContext,
  { name, uid }: Ref,
): Promise<LiveVolume | undefined> {
  const { namespace } = cluster.metadata;
  const claim = await kube.get<PersistentVolumeClaim>(resources.volumeClaims, namespace, name, { signal });
  return claim?.metadata.uid === uid ? withRecord(claim) : undefined;
}

function withRecord(claim: PersistentVolumeClaim) {
  const read = readVolumeRecord(claim.metadata.annotations);
  if (read.kind === 'valid') return { claim, record: read.record };
  throw moved(`the annotations of volume ${claim.metadata.name} have changed since they were looked at`);
}

/** That a deletion is of this very object, as it was read: one that has changed since, or a namesake, stays. */
export function preconditionsOf({
  metadata: { uid = '', resourceVersion },
}: KubeObject): Preconditions & { readonly uid: string } {
  return { uid, ...(resourceVersion !== undefined && { resourceVersion }) };
}

/** What bears this cluster's label, now. */
export async function listOurs<T extends KubeObject>(
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

/** These very objects go, and then, by their owner references, what they own. */
export async function deleteWithDependents(
  { kube, cluster, signal }: ActContext,
  resource: Resource,
  objects: readonly Ref[],
): Promise<void> {
  const { namespace } = cluster.metadata;
  const deletions = objects.map(({ name, uid }) =>
    kube.delete(resource, namespace, name, { preconditions: { uid }, propagation: 'Background', signal }),
  );
  await Promise.all(deletions);
}

/**
 * Creates an object, once, however often it is carried out: what is there already is fine when it is ours.
 *
 * Always by POST, so that an invocation that is late fails at the API server instead of changing what others did since.
 *
 * @throws {StepError} `NameTaken` when somebody else's object has the name: it is never taken over.
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
    `there is a ${kind} named ${name} already that is not this cluster's; it is left alone. To go on: rename or delete it`,
  );
}
