import { claimNamedIn, parseLocation } from '../../../manifests/api/object-template.ts';
import { type Kube, KubeError } from '../../interfaces/kube.ts';
import { problemOfClaim } from '../../objects/member-volume.ts';
import { problemOfOffers } from '../../objects/offers.ts';
import { restoringIn, type WantedSnapshot, wantedSnapshot } from '../know/backups/restore.ts';
import { isRolledBack, wantedRollback } from '../know/backups/rollback.ts';
import { recordOf } from '../know/life.ts';
import type { Observation, SnapshotClaim, SnapshotOffer } from '../know/observation.ts';

type Seen = Pick<Observation, 'cluster' | 'slots' | 'namedBackups'>;

/**
 * Problems of the PersistentVolumeClaims from which snapshots will be restored; asked only while that is ahead.
 * Where they can't be read, the request that makes the Job says so.
 *
 * @throws {KubeError} for what may pass
 */
export async function readSnapshotClaims(
  kube: Kube,
  seen: Seen,
  signal: AbortSignal,
): Promise<readonly SnapshotClaim[]> {
  const { name, namespace } = seen.cluster.metadata;
  const names = new Set(snapshotsAhead(seen).flatMap(({ object }) => claimNamedIn(parseLocation(object)) ?? []));
  const found = await Promise.all(
    [...names].map(async (claimName) => {
      const problem = await asked(problemOfClaim(kube, { namespace, claimName, clusters: [name] }, signal));
      return problem === undefined ? [] : [{ name: claimName, problem }];
    }),
  );
  return found.flat();
}

/** The same of what their owners do not offer. @throws {KubeError} for what may pass */
export async function readSnapshotOffers(
  kube: Kube,
  seen: Seen,
  signal: AbortSignal,
): Promise<readonly SnapshotOffer[]> {
  const { namespace } = seen.cluster.metadata;
  const found = await Promise.all(
    snapshotsAhead(seen).map(async ({ id, named }) => {
      const problem = await asked(problemOfOffers(kube, { namespace, named }, signal));
      return problem === undefined ? [] : [{ id, problem }];
    }),
  );
  return found.flat();
}

/** No problem is known where it can't be read. */
async function asked(problem: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await problem;
  } catch (error) {
    if (error instanceof KubeError && error.class === 'terminal') return undefined;
    throw error;
  }
}

function snapshotsAhead(seen: Seen): readonly WantedSnapshot[] {
  const { cluster, slots } = seen;
  const isBorn = !restoringIn(slots) && slots.some((slot) => recordOf(slot)?.clusterId !== undefined);
  const birth = isBorn ? undefined : wantedSnapshot(cluster);
  const rollback = wantedRollback(seen);
  const isAhead = rollback !== undefined && !isRolledBack(rollback.clusterId, seen);
  return [...(birth ? [birth] : []), ...(isAhead ? [rollback] : [])];
}
