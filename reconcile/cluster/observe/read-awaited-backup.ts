import { parseDuration } from '../../../manifests/api/duration.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { awaitedBackupFresh } from '../../../manifests/api/spec-defaults.ts';
import {
  type BackupWish,
  backupBeforeName,
  backupPolicy,
  isBackupBefore,
  wishOf,
} from '../../../manifests/render/backup-before.ts';
import { labels } from '../../../manifests/render/names.ts';
import { type Kube, KubeError, type KubeObject, resources } from '../../interfaces/kube.ts';
import { conditionOf, isTrue } from '../../objects/conditions.ts';
import { backupAhead } from '../know/backups/ahead.ts';
import type { AwaitedBackupView, Observation } from '../know/observation.ts';

/** Asked only while what waits for it is about to begin. Of a deletion, its namespace as well. */
export async function readAwaitedBackup(
  kube: Kube,
  seen: Pick<Observation, 'cluster' | 'slots' | 'at' | 'hibernationBackup'>,
  signal: AbortSignal,
): Promise<AwaitedBackupView | undefined> {
  const wish = backupAhead(seen);
  if (wish === undefined) return undefined;
  const { before } = wish;
  const { namespace } = seen.cluster.metadata;
  if (before === 'deletion' && (await isEnding(kube, namespace, signal))) return { kind: 'namespace-ends', before };
  try {
    return await newestOf(kube, seen, wish, signal);
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return { kind: 'unknown', before, cause: error.message };
  }
}

/** Lists go by labels, which may be lost: what would be made is looked for by its name first. */
async function newestOf(
  kube: Kube,
  { cluster, at }: Pick<Observation, 'cluster' | 'at'>,
  wish: BackupWish,
  signal: AbortSignal,
): Promise<AwaitedBackupView> {
  const { namespace } = cluster.metadata;
  const labelSelector = `${labels.wish}=${wishOf(cluster, wish)}`;
  const { items } = await kube.list<EtcdBackup>(resources.backups, { namespace, labelSelector, signal });
  const [listed] = items.filter((one) => isBackupBefore(one, cluster, wish)).toSorted(newestFirst);
  if (listed && !isTooOld(listed, cluster, wish, at)) return viewOf(listed, cluster, wish, at);
  const next = listed ? { ...wish, after: listed.metadata.uid ?? '' } : wish;
  const name = backupBeforeName(cluster, next);
  const found = await kube.get<EtcdBackup>(resources.backups, namespace, name, { signal });
  if (found) return viewOf(found, cluster, wish, at);
  if (listed) return { ...viewOf(listed, cluster, wish, at), tooOld: { name, wish: next } };
  return { kind: 'missing', before: wish.before, name, wish };
}

function newestFirst(a: EtcdBackup, b: EtcdBackup): number {
  const [left, right] = [a, b].map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''));
  return Number(right) - Number(left) || (a.metadata.name < b.metadata.name ? -1 : 1);
}

/** A proof that takes longer than an hour is good for so long from its end: else it would be taken for ever. */
const graceMs = 5 * 60_000;

/**
 * Writes since its pod was made may not be in it. One that failed is a person's to delete, unless the upgrade goes on
 * without.
 */
function isTooOld({ status, metadata }: EtcdBackup, cluster: EtcdCluster, { before }: BackupWish, at: Date): boolean {
  if (status?.finishedAt === undefined || metadata.deletionTimestamp !== undefined) return false;
  const isTriedAgain = before === 'upgrade' && backupPolicy(cluster, before) === 'BestEffort';
  if (!isTrue(status, 'Ready') && !isTriedAgain) return false;
  const ended = Date.parse(status.finishedAt);
  const taken = Date.parse(status.podCreatedAt ?? metadata.creationTimestamp ?? status.finishedAt);
  return at.getTime() - taken > parseDuration(awaitedBackupFresh) && at.getTime() - ended > graceMs;
}

/** Where it may not be asked, by a role of an earlier release, the API server's refusal of the EtcdBackup tells. */
async function isEnding(kube: Kube, namespace: string | undefined, signal: AbortSignal): Promise<boolean> {
  if (namespace === undefined) return false;
  try {
    const found = await kube.get<KubeObject>(resources.namespaces, undefined, namespace, { signal });
    return found?.metadata.deletionTimestamp !== undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return false;
  }
}

function viewOf(backup: EtcdBackup, cluster: EtcdCluster, wish: BackupWish, at: Date): KnownBackup {
  const { name, creationTimestamp, uid } = backup.metadata;
  const { finishedAt: endedAt, revision } = backup.status ?? {};
  const message = conditionOf(backup.status, 'Ready')?.message ?? 'not looked at yet';
  const askedAt = creationTimestamp === undefined ? at : new Date(creationTimestamp);
  const state = isBackupBefore(backup, cluster, wish) ? stateOf(backup) : 'foreign';
  return {
    kind: 'known',
    before: wish.before,
    name,
    message,
    askedAt,
    state,
    ...(uid !== undefined &&
      endedAt !== undefined && { ended: { uid, at: endedAt, ...(revision !== undefined && { revision }) } }),
  };
}

type KnownBackup = Extract<AwaitedBackupView, { readonly kind: 'known' }>;

function stateOf({ metadata, status }: EtcdBackup): KnownBackup['state'] {
  if (metadata.deletionTimestamp !== undefined) return 'leaving';
  if (status?.finishedAt !== undefined) return isTrue(status, 'Ready') ? 'good' : 'failed';
  return isTrue(status, 'Stalled') ? 'stalled' : 'under-way';
}
