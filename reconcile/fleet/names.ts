import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { annotations, group, labels } from '../../manifests/render/names.ts';
import type { KubeObject } from '../interfaces/kube.ts';
import { managerOf } from '../objects/drift.ts';

/** On an EtcdCluster, from a person: `<namespace>/<fleet>` that may take it over from the fleet that owns it. */
export const handOverAnnotation = `${group}/hand-over-to`;

/**
 * On an EtcdCluster, from us: the revision of the attempt that was overtaken. It moves the resourceVersion of an object
 * that both revisions spell alike, so that late writes of the overtaken invocation fail as a conflict. It means nothing
 * afterwards and goes with the next commit.
 */
export const overtookAnnotation = `${group}/overtook`;

/** `<namespace>/<name>`, as messages, annotations and the command line spell an object. */
export function keyOf({
  metadata,
}: {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** What a fleet is called towards its forge where its name alone is another's; no name holds a dot. */
export function longStatusName({ metadata }: Pick<EtcdFleet, 'metadata'>): string {
  return `${metadata.name}.${metadata.namespace ?? ''}`;
}

/** What the contexts of a fleet's commit statuses begin with. */
export function statusContext(fleet: Pick<EtcdFleet, 'metadata' | 'status'>): string {
  const long = longStatusName(fleet);
  return `etcd-ratchet/${fleet.status?.reportsAs?.name === long ? long : fleet.metadata.name}`;
}

/** Of the status that says what merging a request would do. */
export function planContext(fleet: Pick<EtcdFleet, 'metadata' | 'status'>): string {
  return `${statusContext(fleet)}/plan`;
}

export function fieldManager(fleet: EtcdFleet): string {
  return managerOf(keyOf(fleet));
}

/** Where an object was handed over to by a person; `undefined` when it was not, or names the owner itself. */
export function handedOverTo({ metadata }: KubeObject): string | undefined {
  const target = metadata.annotations?.[handOverAnnotation];
  return target && target !== metadata.annotations?.[annotations.fleetName] ? target : undefined;
}

/**
 * Whether the fleet goes on with an object that its repository lists: it bears the fleet's label and is not handed
 * over. The label may be forged: Git's list, and the rights of the fleet's account to write the object, decide.
 */
export function isClaimed(fleet: EtcdFleet, object: KubeObject): boolean {
  return isMarked(fleet, object) && !handedOverTo(object);
}

/** Those that the fleet manages: it applied them, and they are not handed over. */
export function ownObjects<T extends KubeObject>(fleet: EtcdFleet, objects: readonly T[]): T[] {
  const isMember = memberOf(fleet);
  return objects.filter((object) => isMember(object) && !handedOverTo(object));
}

/** Those that bear the fleet's label without being its own: they count for nothing. */
export function strangersOf<T extends KubeObject>(fleet: EtcdFleet, objects: readonly T[]): T[] {
  const isMember = memberOf(fleet);
  return objects.filter((object) => isClaimed(fleet, object) && !isMember(object));
}

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
