import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { FleetInventoryEntry } from '../../manifests/api/etcd-fleet-status.ts';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import { type FleetKind, fleetKinds, isClusterScoped, isFleetKind } from '../../manifests/api/fleet-kinds.ts';
import { apiVersion } from '../../manifests/api/group.ts';
import { labels } from '../../manifests/render/names.ts';
import { type Kube, KubeError, type KubeObject, type Resource } from '../interfaces/kube.ts';

/** What a fleet may apply, told apart by `kind`. Items of a list come without it: here they have it. */
export type FleetObject = EtcdCluster | OtherObject;

/** All but clusters, which every pass lists anyway. */
export type OtherObject = EtcdBackup | EtcdBackupSchedule | EtcdRestore | EtcdNodePolicy;

export function resourceOf(kind: FleetKind): Resource {
  const { plural } = fleetKinds[kind];
  return { apiVersion, kind, plural, ...(isClusterScoped(kind) && { clusterScoped: true }) };
}

/** A cluster is called as it always was; of the other kinds, each has names of its own. */
export function identityOf(kind: string | undefined, { namespace, name }: Named): string {
  const own = kind !== undefined && kind !== 'EtcdCluster' && isFleetKind(kind) ? `${kind}/` : '';
  return isClusterScoped(kind) ? `${own}${name ?? ''}` : `${namespace ?? ''}/${own}${name ?? ''}`;
}

interface Named {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

export function identityOfObject({ kind, metadata }: FleetObject): string {
  return identityOf(kind, metadata);
}

/** `EtcdBackup payments/orders`, for people. */
export function calledOf(kind: string, { namespace, name }: Named): string {
  return isClusterScoped(kind) ? `${kind} ${name ?? ''}` : `${kind} ${namespace ?? ''}/${name ?? ''}`;
}

/** An entry of an earlier release is a cluster's. */
export function kindOfEntry({ kind }: Pick<FleetInventoryEntry, 'kind'>): FleetKind {
  return kind !== undefined && isFleetKind(kind) ? kind : 'EtcdCluster';
}

export function withKind<T extends KubeObject, K extends FleetKind>(kind: K, object: T): T & { readonly kind: K } {
  return object.kind === kind ? (object as T & { readonly kind: K }) : { ...object, apiVersion, kind };
}

/** Whether this fleet's last apply left anything but clusters. */
export function hasOthers({ status }: Pick<EtcdFleet, 'status'>): boolean {
  return status?.inventory?.some((entry) => kindOfEntry(entry) !== 'EtcdCluster') ?? false;
}

export type OtherKind = OtherObject['kind'];

const otherKinds = Object.keys(fleetKinds).filter((kind): kind is OtherKind => kind !== 'EtcdCluster');

/** `undefined` of a cluster, and of what no fleet applies. */
export function otherKindOf(kind: string | undefined): OtherKind | undefined {
  return otherKinds.find((known) => known === kind);
}

/** One LIST per kind. A kind that is not installed, or not granted to us, has none. @throws {KubeError} */
export function listOthers(
  kube: Kube,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly OtherObject[]> {
  return listEach(kube, { namespace, signal });
}

/**
 * As {@link listOthers}, but only with the label of a fleet: it leaves out the backups of schedules and clusters,
 * however many those are. @throws {KubeError}
 */
export function listApplied(
  kube: Kube,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly OtherObject[]> {
  return listEach(kube, { namespace, signal, labelSelector: labels.fleet });
}

async function listEach(kube: Kube, options: ListOptions): Promise<readonly OtherObject[]> {
  const lists = otherKinds.map(async (kind) => {
    // What belongs to no namespace is a fleet's own also where the look is at one namespace: unseen, it would leave the
    // inventory, and never be pruned.
    const where = isClusterScoped(kind) ? { ...options, namespace: undefined } : options;
    try {
      const { items } = await kube.list<OtherObject>(resourceOf(kind), where);
      return items.map((item) => withKind(kind, item) as OtherObject);
    } catch (error) {
      if (error instanceof KubeError && error.class === 'terminal') return [];
      throw error;
    }
  });
  return (await Promise.all(lists)).flat();
}

type ListOptions = Parameters<Kube['list']>[1];
