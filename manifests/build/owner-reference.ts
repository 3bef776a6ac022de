import { apiVersion, type Kind } from '../api/group.ts';
import type { KubeObject, OwnerReference } from '../kube-types.ts';

/**
 * A controlling reference to one of our custom resources.
 *
 * `apiVersion` and `kind` are given here because items of a list come without them.
 *
 * @throws {Error} when the owner has no UID, that is, was never read from the API server: without one, the garbage
 * collector would take the child for an orphan.
 */
export function ownerReference(kind: Kind, owner: KubeObject): OwnerReference {
  const { namespace, name, uid } = owner.metadata;
  if (!uid)
    throw new Error(`${kind} ${namespace ?? ''}/${name} has no uid: build children only of an object that was read`);
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Whether the object is controlled by this very resource, not by a namesake of an earlier life. */
export function isControlledBy(object: KubeObject, ownerUid: string): boolean {
  return (object.metadata.ownerReferences ?? []).some(({ controller, uid }) => controller === true && uid === ownerUid);
}
