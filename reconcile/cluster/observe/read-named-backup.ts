import type { Kube } from '../../interfaces/kube.ts';
import { backupAskedFor } from '../know/backups/rollback.ts';
import type { NamedBackup, Observation } from '../know/observation.ts';
import { readJudged } from './read-judged.ts';

type Seen = Pick<Observation, 'cluster' | 'slots' | 'namedBackups'>;

/**
 * The EtcdBackup that the spec names for a rollback, unless it was read before.
 *
 * @throws {KubeError} for what may pass
 */
export async function readNamedBackup(kube: Kube, seen: Seen, signal: AbortSignal): Promise<readonly NamedBackup[]> {
  const name = backupAskedFor(seen);
  if (name === undefined || seen.namedBackups?.some((one) => one.name === name)) return [];
  return [await readJudged(kube, seen.cluster.metadata.namespace, { name }, signal)];
}
