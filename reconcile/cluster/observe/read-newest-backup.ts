import { abortAfter } from '../../../manifests/abort-after.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { snapshotOf } from '../../../manifests/render/restored-cluster.ts';
import { sourceOf } from '../../../manifests/render/snapshot-id.ts';
import type { ListedMember } from '../../interfaces/etcd.ts';
import { type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import { isTrue } from '../../objects/conditions.ts';
import { isAsleep, recordOf } from '../know/life.ts';
import { quorumOf } from '../know/membership/quorum.ts';
import type { BackupView, Observation, Slot } from '../know/observation.ts';
import { gaveUpBy } from '../know/recovery/outvoted.ts';

/** In milliseconds: it only says more about what is known. */
const budget = 4000;

/**
 * Asked only while no quorum answers, and one should: not of a cluster that hibernates. Also while members still answer
 * whose volumes are gone: the first message that a person reads names the backup. What can't be read is not told:
 * messages say more with it, and need it not.
 */
export async function readNewestBackup(
  kube: Kube,
  { cluster, membership, slots }: Pick<Observation, 'cluster' | 'membership' | 'slots'>,
  signal: AbortSignal,
): Promise<BackupView | undefined> {
  const { metadata, status } = cluster;
  const { namespace, name } = metadata;
  if (status?.clusterID === undefined || slots.some(isAsleep)) return undefined;
  if (membership.kind === 'known' && !areVolumesLost(membership.members, slots)) return undefined;
  const inTime = abortAfter(budget, signal);
  try {
    const { items } = await kube.list<EtcdBackup>(resources.backups, { namespace, signal: inTime });
    const ofName = items.filter(({ spec }) => spec.clusterName === name).toSorted(newestFirst);
    const present = newestOf(ofName.flatMap((one) => viewOf(one, status.clusterID)));
    return present ?? newestFormer(ofName, { cluster, slots });
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

/** So many that the members are no quorum any more when their pods end. */
function areVolumesLost(members: readonly ListedMember[], slots: readonly Slot[]): boolean {
  const voters = members.filter(({ isLearner }) => !isLearner).length;
  return slots.filter(({ volume }) => volume && !volume.leaving && !volume.lost).length < quorumOf(voters);
}

/** Of an earlier cluster of this name there may be others. */
function viewOf(backup: EtcdBackup, clusterId: string | undefined): readonly BackupView[] {
  const { metadata, status } = backup;
  const { takenAt, clusterID, revision, verified } = status ?? {};
  const snapshot = snapshotOf(backup);
  if (!isTrue(status, 'Ready') || !snapshot || takenAt === undefined || clusterID !== clusterId) return [];
  return [
    {
      name: metadata.name,
      takenAt,
      verified: verified !== undefined,
      snapshot,
      ...(revision !== undefined && { revision }),
    },
  ];
}

/**
 * Where this life has none: what it went back to, as its volumes remember; or else of a life that was given up, which
 * may hold what was rolled back.
 */
function newestFormer(
  backups: readonly EtcdBackup[],
  { cluster, slots }: Pick<Observation, 'cluster' | 'slots'>,
): BackupView | undefined {
  const lives = new Set([...gaveUpBy(slots), ...(cluster.status?.gaveUp ?? [])]);
  const origins = new Set(slots.flatMap((slot) => recordOf(slot)?.restoredFrom ?? []));
  const views = backups.flatMap((one) =>
    [...lives].flatMap((clusterId) =>
      viewOf(one, clusterId).map((view): BackupView => {
        const isOrigin = origins.has(sourceOf(view.snapshot));
        return { ...view, formerLife: { clusterId, isOrigin } };
      }),
    ),
  );
  return views.find(({ formerLife }) => formerLife?.isOrigin) ?? newestOf(views);
}

/** By the API server's clock: those of nodes may differ. When what is only looked for was made, its record says. */
function newestFirst(a: EtcdBackup, b: EtcdBackup): number {
  const madeAt = ({ metadata, spec, status }: EtcdBackup) =>
    Date.parse((spec.existing ? status?.takenAt : metadata.creationTimestamp) ?? '') || 0;
  const takenAt = ({ status }: EtcdBackup) => Date.parse(status?.takenAt ?? '') || 0;
  return madeAt(b) - madeAt(a) || takenAt(b) - takenAt(a);
}

/** A verified one is better than a newer one. @param views newest first */
function newestOf(views: readonly BackupView[]): BackupView | undefined {
  return views.find(({ verified }) => verified) ?? views[0];
}
