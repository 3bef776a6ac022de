import type { SnapshotSource } from '../../../manifests/api/backup-settings.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { backupDefaults } from '../../../manifests/api/spec-defaults.ts';
import { backupPolicy } from '../../../manifests/render/backup-before.ts';
import { type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import { type Asked, judgeBackup } from '../know/backups/fitness.ts';
import { hibernationBackupOf } from '../know/backups/hibernation-backup.ts';
import { backupAskedFor, namedBackup, recordsIt } from '../know/backups/rollback.ts';
import { backupFinalizer } from '../know/marks.ts';
import type { NamedBackup, Observation } from '../know/observation.ts';

/** An EtcdBackup, read and judged. @throws {KubeError} for what may pass */
async function readJudged(
  kube: Kube,
  namespace: string | undefined,
  asked: Asked,
  signal: AbortSignal,
): Promise<NamedBackup> {
  const { name } = asked;
  try {
    return judgeBackup(asked, await kube.get<EtcdBackup>(resources.backups, namespace, name, { signal }));
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return { name, kind: 'unfit', why: `it cannot be read: ${error.message}` };
  }
}

type Seen = Pick<Observation, 'cluster' | 'slots' | 'namedBackups'>;

/**
 * The EtcdBackup that the spec names for a rollback, or that recorded the object which it names, unless it was read
 * before.
 *
 * @throws {KubeError} for what may pass
 */
export async function readNamedBackup(kube: Kube, seen: Seen, signal: AbortSignal): Promise<readonly NamedBackup[]> {
  const asked = backupAskedFor(seen);
  if (!asked || namedBackup(seen)) return [];
  const { namespace } = seen.cluster.metadata;
  if ('recorded' in asked) return readRecorded(kube, namespace, asked.recorded, signal);
  return [await readJudged(kube, namespace, asked, signal)];
}

/** The newest, by the API server's clock: its name may have been given to another object since. */
async function readRecorded(
  kube: Kube,
  namespace: string | undefined,
  snapshot: SnapshotSource,
  signal: AbortSignal,
): Promise<readonly NamedBackup[]> {
  try {
    const { items } = await kube.list<EtcdBackup>(resources.backups, { namespace, signal });
    const newest = items
      .toSorted((a, b) => madeAt(b).localeCompare(madeAt(a)))
      .map((one) => judgeBackup({ name: one.metadata.name }, one))
      .find((view) => recordsIt(view, snapshot));
    return newest ? [newest] : [];
  } catch (error) {
    // An installation without backups: the approval says that nothing records the object.
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return [];
  }
}

function madeAt({ metadata }: EtcdBackup): string {
  return metadata.creationTimestamp ?? '';
}

type Asleep = Pick<Observation, 'cluster' | 'slots'>;

/**
 * The backup that a cluster was put to sleep on: asked only where it is to be its last one, or a plan may delete it.
 *
 * @throws {KubeError} for what may pass
 */
export async function readHibernationBackup(
  kube: Kube,
  { cluster, slots }: Asleep,
  { thorough, signal }: { readonly thorough: boolean; readonly signal: AbortSignal },
): Promise<NamedBackup | undefined> {
  const { namespace, deletionTimestamp, finalizers } = cluster.metadata;
  const isOwed = deletionTimestamp !== undefined && finalizers?.includes(backupFinalizer) === true;
  if (backupPolicy(cluster, 'deletion') === 'Never' || !(isOwed || thorough)) return undefined;
  const wanted = hibernationBackupOf(slots);
  if (!wanted) return undefined;
  const { name, uid, clusterId } = wanted;
  const proven = (cluster.spec.backup?.verify ?? backupDefaults.verify) === 'Restore';
  return readJudged(kube, namespace, { name, uid, clusterId, proven }, signal);
}
