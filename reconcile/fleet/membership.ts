import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { labels } from '../../manifests/render/names.ts';
import type { KubeObject } from '../interfaces/kube.ts';

type Fleet = Pick<EtcdFleet, 'metadata' | 'status'>;

/**
 * The UID of the fleet in an object's label: the UID, because a fleet created again under the same name is another. It
 * proves nothing: any editor of a namespace may give its objects any label.
 */
export function ownerOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[labels.fleet];
}

/** Whether the object bears the fleet's label. No more than a hint: see `memberOf`. */
export function isMarked({ metadata: { uid } }: Fleet, object: KubeObject): boolean {
  return uid !== undefined && ownerOf(object) === uid;
}

/**
 * Tells the fleet's objects from any others: they bear its label, and its inventory has their UIDs. Only etcd-ratchet
 * writes the inventory, after an apply with the rights of the fleet's own account.
 */
export function memberOf(fleet: Fleet): (object: KubeObject) => boolean {
  const uids = new Set((fleet.status?.inventory ?? []).map(({ uid }) => uid));
  return (object) => isMarked(fleet, object) && uids.has(object.metadata.uid ?? '');
}
