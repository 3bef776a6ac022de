import { backupDefaults } from '../../../manifests/api/spec-defaults.ts';
import { backupPolicy } from '../../../manifests/render/backup-before.ts';
import type { Kube } from '../../interfaces/kube.ts';
import { hibernationBackupOf } from '../know/backups/hibernation-backup.ts';
import { backupFinalizer } from '../know/marks.ts';
import type { NamedBackup, Observation } from '../know/observation.ts';
import { readJudged } from './read-judged.ts';

type Seen = Pick<Observation, 'cluster' | 'slots'>;

/**
 * The backup that a cluster was put to sleep on: asked only where it is to be its last one, or a plan may delete it.
 *
 * @throws {KubeError} for what may pass
 */
export async function readHibernationBackup(
  kube: Kube,
  { cluster, slots }: Seen,
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
