/** What an API server makes of a write, whoever sends it. Pure. */

import { isDeepStrictEqual } from 'node:util';
import type { Target } from '../../../reconcile/clients/kube-address.ts';
import { refusal } from '../../../reconcile/clients/kube-errors.ts';
import type { KubeError, KubeObject, Preconditions, Resource } from '../../../reconcile/interfaces/kube.ts';
import type { Fields, Stored } from './kube-shelf.ts';

const withoutStatus = new Set(['configmaps', 'secrets', 'events']);
const withoutGeneration = new Set(['configmaps', 'secrets', 'events', 'services', 'persistentvolumeclaims']);

/** What a POST leaves of what was sent: the metadata is the server's, and a status is not for creating. */
export function newborn(resource: Resource, sent: KubeObject, birth: { uid: string; creationTimestamp: string }) {
  const { status, ...rest } = sent as unknown as Fields;
  const generation = withoutGeneration.has(resource.plural) ? {} : { generation: 1 };
  return {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    ...rest,
    ...firstStatus(resource, status),
    metadata: { ...sent.metadata, ...birth, ...generation },
  };
}

/** What a write to the main resource leaves: the server's metadata and the status stay, the generation counts. */
export function settled(resource: Resource, current: Stored, sent: Fields): Stored {
  const { uid, resourceVersion, creationTimestamp, deletionTimestamp, generation } = current.metadata;
  const { status: sentStatus, ...rest } = sent;
  const status = withoutStatus.has(resource.plural) ? sentStatus : current.status;
  const metadata = {
    ...(sent.metadata as KubeObject['metadata']),
    uid,
    resourceVersion,
    ...defined({ creationTimestamp, deletionTimestamp, generation }),
  };
  const { apiVersion, kind } = current;
  const next = { ...rest, ...defined({ apiVersion, kind, status }), metadata };
  return isDeepStrictEqual(specOf(current), specOf(next)) ? next : nextGeneration(resource, next);
}

export function nextGeneration(resource: Resource, object: Stored): Stored {
  if (withoutGeneration.has(resource.plural)) return object;
  return { ...object, metadata: { ...object.metadata, generation: (object.metadata.generation ?? 0) + 1 } };
}

/** @throws {KubeError} `Conflict` */
export function checkPreconditions(
  target: Target,
  { metadata }: Stored,
  { uid, resourceVersion }: Preconditions,
): void {
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(target, `UID in precondition is ${uid}, of the object ${metadata.uid}`);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(target, `the object has been modified: at ${metadata.resourceVersion}, not ${resourceVersion}`);
  }
}

/** @throws {KubeError} `Invalid` when a ConfigMap or Secret that is immutable would change. */
export function checkImmutable(target: Target, before: Stored, after: Stored): void {
  if (before.immutable !== true || isDeepStrictEqual(contentOf(before), contentOf(after))) return;
  const { name } = before.metadata;
  throw refusal(target, { code: 422, reason: 'Invalid', message: `${before.kind} "${name}" is immutable`, name });
}

export function conflict(target: Target, message: string): KubeError {
  return refusal(target, { code: 409, reason: 'Conflict', message, name: target.name });
}

function firstStatus({ plural }: Resource, sent: unknown): Fields {
  if (withoutStatus.has(plural)) return defined({ status: sent });
  return plural === 'pods' || plural === 'persistentvolumeclaims' ? { status: { phase: 'Pending' } } : {};
}

function contentOf({ immutable, data, binaryData, stringData }: Fields): unknown {
  return { immutable, data, binaryData, stringData };
}

function specOf({ metadata: _metadata, status: _status, ...spec }: Fields): unknown {
  return spec;
}

function defined<T extends Fields>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
