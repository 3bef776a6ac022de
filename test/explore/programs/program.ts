import { clusterIdOf } from '../model/lineage.ts';
import { type Cluster, type Formation, type Place, placeOf, type World, withPlace } from '../model/state.ts';
import type { Referred } from '../model/uids.ts';

/**
 * An action as the operations that it consists of, in the order in which `reconcile/cluster/actions/*.ts` carries them out: what it reads
 * again just before it acts, and each of its writes. Anything may happen between any two of them.
 *
 * What a write itself carries (a resourceVersion, a UID, "must not exist") is looked at by the API server when it arrives, also when that
 * is late; so reading an object and writing it back counts as one operation, which fails when the object has changed meanwhile.
 */
export type Program = readonly Operation[];

export interface Operation {
  /** For stories: what whoever acts does. */
  readonly what: string;
  /** The member that it is about. */
  readonly name?: string;
  /** What is read, and comes to; without it, it goes on. */
  readonly check?: (world: World) => Check;
  /** Absent: it only reads. */
  readonly write?: Write;
  /** Operations of the same number are sent side by side: any of them may arrive without the others. */
  readonly beside?: number;
}

export type Check =
  | 'go'
  /** Nothing to write: it is so already. */
  | 'skip'
  /** All is done that was to be done. */
  | 'done'
  /** Something must happen first, and is polled for. */
  | 'wait'
  /** The world is not as it must be: the step ends here. */
  | { readonly refused: string };

export interface Write {
  /** What the API server compares when it arrives. */
  readonly fence: Fence;
  readonly object?: ObjectKind;
  /** What this request says, from what was read before it was sent. */
  readonly say?: (world: World) => unknown;
  /** Whether it gets through when it arrives, for any other reason than its fence. */
  readonly admits?: (world: World, late: boolean) => boolean;
  readonly apply: (world: World, referred: Referred, said: unknown) => World;
  /** A change of the member list, and whom it is about. */
  readonly membership?: { readonly kind: 'add' | 'promote' | 'remove'; readonly target: string };
}

/**
 * `version`: the object as it was read. `uid`: the same object, whatever was written to it since. `absent`: a POST. `none`: etcd has no
 * such thing. `claim`: the resource as it was claimed, so it is never late.
 */
export type Fence = 'version' | 'uid' | 'absent' | 'none' | 'claim';

export type ObjectKind =
  | 'peer'
  | 'volume'
  | 'configMap'
  | 'statefulSet'
  | 'pod'
  | 'job'
  | 'headlessService'
  | 'clientService'
  | 'disruptionBudget';

export function refused(why: string): { readonly refused: string } {
  return { refused: why };
}

/** The object itself: the same one as long as nothing was written to it. */
export function objectOf(world: World, kind: ObjectKind | undefined, name: string | undefined): object | undefined {
  switch (kind) {
    case undefined:
      return undefined;
    case 'headlessService':
    case 'clientService':
    case 'disruptionBudget':
      return world.shared[kind].state === 'missing' ? undefined : world.shared[kind];
    default:
      return name === undefined ? undefined : placeOf(world, name)?.[kind];
  }
}

/** An object that is changed, if it is still there. */
export function changing<K extends 'peer' | 'volume' | 'configMap' | 'statefulSet' | 'pod'>(
  world: World,
  name: string,
  kind: K,
  change: (object: NonNullable<Place[K]>, place: Place) => NonNullable<Place[K]>,
): World {
  return withPlace(world, name, (place) => {
    const object = place[kind];
    return object === undefined ? place : { ...place, [kind]: change(object as NonNullable<Place[K]>, place) };
  });
}

export function changingCluster(world: World, change: (cluster: Cluster) => Cluster): World {
  return { ...world, cluster: change(world.cluster) };
}

/** The member list just before it is changed: of the cluster that is meant, and a quorum behind it. */
export function settled(formation: Formation | undefined, clusterId: string): Formation | { readonly refused: string } {
  if (!formation) return refused('no quorum answers');
  return clusterIdOf(formation) === clusterId ? formation : refused(`etcd cluster ${formation.id} answers`);
}
