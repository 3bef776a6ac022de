import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { FleetInventoryEntry } from '../../manifests/api/etcd-fleet-status.ts';
import { runsOnce } from '../../manifests/api/fleet-kinds.ts';
import { annotations } from '../../manifests/render/names.ts';
import { wantsReconcile } from '../../manifests/render/reconcile-request.ts';
import { conditionOf } from '../objects/conditions.ts';
import { ownObjects } from './names.ts';
import { type FleetObject, identityOf, identityOfObject, kindOfEntry, type OtherObject, withKind } from './objects.ts';
import { shaOf } from './reading.ts';
import { isVerified } from './verified.ts';

/**
 * Whether nothing needs to be fetched: this revision is applied, and the live objects are exactly the inventory. An
 * object that was deleted by hand comes back, unless it runs once. A labelled object outside of the inventory is no
 * reason: any editor of a namespace can make one. An invocation that died before its report left no revision, either.
 */
export function isUnchanged(
  fleet: EtcdFleet,
  revision: string,
  clusters: readonly EtcdCluster[],
  others: readonly OtherObject[] = [],
): boolean {
  const { status, metadata } = fleet;
  if (status?.revision?.applied !== revision || status.revision.attempted !== revision) return false;
  // The fleet's own spec moved: another path, other rights, pruning switched on.
  if (status.observedGeneration !== metadata.generation) return false;
  // Git was looked at since, and not read: what was applied before is not known to be what the spec asks for now.
  if (conditionOf(status, 'SourceReady')?.status === 'False' || !isVerified(fleet, revision)) return false;
  if (wantsPruning(fleet, revision) || wantsReconcile(fleet)) return false;

  const inventory = status.inventory ?? [];
  const own = ownObjects(fleet, [...clusters.map((cluster) => withKind('EtcdCluster', cluster)), ...others]);
  const live = new Set(own.map(({ metadata }) => metadata.uid));
  const byUid = new Map(inventory.map((entry) => [entry.uid, entry]));
  const gone = inventory.filter(({ uid }) => !live.has(uid));
  return (
    gone.every((entry) => runsOnce(kindOfEntry(entry))) &&
    own.every((object) => {
      const entry = byUid.get(object.metadata.uid ?? '');
      return entry !== undefined && isAsLeft(entry, object);
    })
  );
}

/** Whether the object is the one that our apply left, with the generation that it left it at. */
export function isAsLeft(entry: FleetInventoryEntry, object: FleetObject): boolean {
  const { metadata } = object;
  return (
    entry.uid === metadata.uid &&
    entry.generation === metadata.generation &&
    entry.generation > 0 &&
    identityOf(kindOfEntry(entry), entry) === identityOfObject(object) &&
    metadata.deletionTimestamp === undefined
  );
}

/** A confirmation for this very commit that has not had its effect yet. */
function wantsPruning({ spec, metadata, status }: EtcdFleet, revision: string): boolean {
  const unlisted = status?.conditions?.some(({ type, status }) => type === 'Unlisted' && status === 'True') ?? false;
  const confirmation = metadata.annotations?.[annotations.confirmPrune];
  return (spec.prune ?? false) && unlisted && (confirmation?.startsWith(`${shaOf(revision)}/`) ?? false);
}
