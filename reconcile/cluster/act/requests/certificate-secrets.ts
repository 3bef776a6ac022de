import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { OwnerReference, Secret } from '../../../../manifests/kube-types.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { ownerReference } from '../../../../manifests/render/owner-reference.ts';
import { isReason, resources } from '../../../interfaces/kube.ts';
import { StepError } from '../../../requests/refusals.ts';
import { moved } from '../../know/outcome.ts';
import type { Host } from './host.ts';
import { type Live, writeBack } from './live.ts';
import type { ReadAt } from './read-at.ts';
import type { Written } from './request.ts';

/**
 * Writing the Secrets of certificates. Their keys stay in the live halves: no request asks for one, and none is
 * answered with one.
 */

/**
 * By POST where there was none, else by PUT over exactly what was read.
 *
 * @throws {StepError} where it was written to since. @throws {KubeError}
 */
export async function writeSecret(live: Live, wanted: Secret, readAt: ReadAt | undefined): Promise<void> {
  const { kube, signal } = live;
  try {
    if (!readAt) await kube.create<Secret>(resources.secrets, wanted, { signal });
    else await writeBack<Secret>(live, resources.secrets, over(live.kept<Secret>(readAt), wanted));
  } catch (error) {
    throw asChanged(error, `Secret ${wanted.metadata.name}`);
  }
}

/** Keeps what others noted, and the version that was read. The type of a Secret never changes; our keys fit any. */
function over(found: Secret, wanted: Secret): Secret {
  const { resourceVersion, uid } = found.metadata;
  const metadata = {
    ...found.metadata,
    ...wanted.metadata,
    labels: { ...found.metadata.labels, ...wanted.metadata.labels },
    annotations: { ...othersOf(found), ...wanted.metadata.annotations },
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(uid !== undefined && { uid }),
  };
  return { ...found, metadata, data: { ...found.data, ...wanted.data } };
}

/** Our own notes were about what is replaced. */
function othersOf({ metadata }: Secret): Record<string, string> {
  const ours: readonly string[] = [
    annotations.token,
    annotations.trust,
    annotations.rotateCertificates,
    annotations.servedSince,
    annotations.issuer,
  ];
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !ours.includes(key)));
}

/** The API server's word, and `writeBack`'s, for what was made, written to or deleted since it was looked at. */
export function asChanged(error: unknown, what: string): unknown {
  const hasGone = error instanceof StepError && error.failure.reason === 'Conflict';
  return hasGone || isReason(error, 'AlreadyExists') || isReason(error, 'Conflict') ? changed(what) : error;
}

/** The same in a model. @throws {StepError} */
export function requireAsRead<S>(
  host: Host<S>,
  what: string,
  { readAt, isThere }: { readonly readAt: ReadAt | undefined; readonly isThere: boolean },
): void {
  if (readAt ? !isThere || !host.isCurrent(readAt) : isThere) throw changed(what);
}

function changed(what: string): StepError {
  return moved(`${what} has changed since it was read`);
}

export function secretWritten(name: string, readAt: ReadAt | undefined): Written {
  return { fence: readAt ? 'version' : 'absent', object: 'secret', name };
}

/** What a leaf goes with: the peer as it was read, or the cluster. */
export interface LeafOwner {
  readonly uid: string;
  /** Absent: the cluster. */
  readonly peer?: ReadAt;
}

export function referenceTo({ peer }: LeafOwner, { cluster, kept }: Live): OwnerReference {
  return peer ? ownerReference('EtcdPeer', kept<EtcdPeer>(peer)) : ownerReference('EtcdCluster', cluster);
}
