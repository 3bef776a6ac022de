import { type EtcdCluster, type EtcdClusterSpec, etcdClusterSpecSchema } from './etcd-cluster.ts';
import { type EtcdFleet, type EtcdFleetSpec, etcdFleetSpecSchema } from './etcd-fleet.ts';
import { type Structural, structural } from './schema.ts';

type Filled<T, K extends keyof T> = Omit<T, K> & { readonly [P in K]-?: NonNullable<T[P]> };
type Image = NonNullable<EtcdClusterSpec['image']>;

/** An EtcdClusterSpec as the API server stores it. */
interface EtcdClusterSpecWithDefaults
  extends Omit<EtcdClusterSpec, 'image' | 'healing' | 'defragmentation' | 'volumeRetention' | 'suspend'> {
  readonly image: Filled<Image, 'repository'>;
  readonly healing: Required<NonNullable<EtcdClusterSpec['healing']>>;
  readonly defragmentation: Required<NonNullable<EtcdClusterSpec['defragmentation']>>;
  readonly volumeRetention: Required<NonNullable<EtcdClusterSpec['volumeRetention']>> & {
    readonly whenReplaced: Required<NonNullable<NonNullable<EtcdClusterSpec['volumeRetention']>['whenReplaced']>>;
  };
  readonly suspend: boolean;
}

/** An EtcdCluster as the API server stores it. */
export interface EtcdClusterWithDefaults extends EtcdCluster {
  readonly spec: EtcdClusterSpecWithDefaults;
}

/** An EtcdFleetSpec as the API server stores it. */
interface EtcdFleetSpecWithDefaults
  extends Omit<Filled<EtcdFleetSpec, 'serviceAccountName' | 'prune' | 'maxClustersInProgress' | 'suspend'>, 'git'> {
  readonly git: Filled<EtcdFleetSpec['git'], 'path'>;
}

/** An EtcdFleet as the API server stores it. */
export interface EtcdFleetWithDefaults extends EtcdFleet {
  readonly spec: EtcdFleetSpecWithDefaults;
}

/**
 * The same defaults that the CRD has, for where there is no API server. `cluster` is one that `validateDocument`
 * passed.
 */
export function withDefaults(cluster: EtcdCluster): EtcdClusterWithDefaults {
  return { ...cluster, spec: fill(structural(etcdClusterSpecSchema), cluster.spec) as EtcdClusterSpecWithDefaults };
}

/**
 * The same defaults that the CRD has, for where there is no API server. `fleet` is one that `validateDocument` passed.
 */
export function fleetWithDefaults(fleet: EtcdFleet): EtcdFleetWithDefaults {
  return { ...fleet, spec: fill(structural(etcdFleetSpecSchema), fleet.spec) as EtcdFleetSpecWithDefaults };
}

/**
 * As the API server does it: an absent (or null) field gets its default, and then that default's own fields get theirs.
 */
function fill(schema: Structural, value: unknown): unknown {
  if (!schema.properties || typeof value !== 'object' || value === null || Array.isArray(value)) return value;

  const filled: Record<string, unknown> = { ...value };
  for (const [key, property] of Object.entries(schema.properties)) {
    const given = filled[key] ?? property.default;
    if (given === undefined || given === null) delete filled[key];
    else filled[key] = fill(property, given);
  }
  return filled;
}
