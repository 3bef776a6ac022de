import { apiVersion, type Kind } from '../api/group.ts';
import type { KubeObject, OwnerReference } from '../kube-types.ts';

/**
 * A controlling reference to a resource of ours; items of a list come without `apiVersion` and `kind`. @throws {Error}
 * without a UID (it was never read): the garbage collector would take the child for an orphan
 */
export function ownerReference(kind: Kind, owner: KubeObject): OwnerReference {
  const { namespace, name, uid } = owner.metadata;
  if (!uid)
    throw new Error(`${kind} ${namespace ?? ''}/${name} has no uid: build children only of an object that was read`);
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * A controlling reference to a PVC: its holder goes when the PVC goes, and does not belong to another PVC of that name.
 * It does not block the PVC's deletion: that takes rights on finalizers. @throws {Error} when the PVC was never read
 */
export function claimReference({ metadata: { namespace, name, uid } }: KubeObject): OwnerReference {
  if (!uid) throw new Error(`PersistentVolumeClaim ${namespace ?? ''}/${name} has no uid: it was never read`);
  return { apiVersion: 'v1', kind: claimKind, name, uid, controller: true };
}

const claimKind = 'PersistentVolumeClaim';

/** Whether a PVC of this very name controls it, be it there or gone. */
export function isOfItsClaim({ metadata }: KubeObject): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  return owner?.kind === claimKind && owner.name === metadata.name;
}

/** Whether the object is controlled by this very resource, not by a namesake of an earlier life. */
export function isControlledBy(object: KubeObject, ownerUid: string): boolean {
  return (object.metadata.ownerReferences ?? []).some(({ controller, uid }) => controller === true && uid === ownerUid);
}
