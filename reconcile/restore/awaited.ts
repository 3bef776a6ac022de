import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import type { ListBackups } from '../backup/list.ts';
import { type Kube, KubeError, resources } from '../interfaces/kube.ts';
import { conditionOf } from '../objects/conditions.ts';
import { inParallel } from '../stepping/in-parallel.ts';
import { drawnFor } from '../stepping/in-turns.ts';

/** What restores wait for, at a cost that does not grow with how many they are. */

export interface BackupsAwaited {
  /** By namespace and name. What is not in it was not asked for this time. */
  readonly known: ReadonlyMap<string, EtcdBackup | 'absent'>;
}

export const awaitsNone: BackupsAwaited = { known: new Map() };

/** Its backup is still to be taken, and may become Ready while the pass goes on. */
export function isUnderWay({ known }: BackupsAwaited, restore: EtcdRestore): boolean {
  const found = known.get(awaitedBy(restore));
  return found !== undefined && found !== 'absent' && found.status?.finishedAt === undefined;
}

interface Asking {
  readonly kube: Kube;
  readonly listBackups: ListBackups;
  readonly signal: AbortSignal;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

/** Backups that are settled, or not there, and are asked for one by one: so many a pass, by turns. */
const mostAsked = 32;
/** Ticks come about once a minute. */
const turnMs = 60_000;
const parallel = 8;

/** Whether only its EtcdBackup matters: it made no cluster, none of the name is listed, and it was observed in full. */
export function waitsForBackup({ metadata, spec, status }: EtcdRestore, clusters: readonly EtcdCluster[]): boolean {
  if (spec.backupName === undefined || status?.clusterUID !== undefined) return false;
  if (status?.observedGeneration !== metadata.generation) return false;
  const { reason } = conditionOf(status, 'Ready') ?? {};
  const isThere = clusters.some(
    (one) => one.metadata.namespace === metadata.namespace && one.metadata.name === spec.cluster.name,
  );
  return (reason === 'BackupNotReady' || reason === 'BackupAbsent') && !isThere;
}

export function awaitedBy({ metadata, spec }: EtcdRestore): string {
  return `${metadata.namespace ?? ''}/${spec.backupName ?? ''}`;
}

/**
 * One LIST of unsettled backups; then a GET for each other one, each once, and at most 32. Never throws for answers
 * about them: other restores wait for none of these.
 */
export async function backupsAwaited(
  waiting: readonly EtcdRestore[],
  { kube, listBackups, signal, log }: Asking,
): Promise<BackupsAwaited> {
  const wanted = new Set(waiting.map(awaitedBy));
  const failed = (error: unknown): undefined => {
    if (!(error instanceof KubeError)) throw error;
    log({ problem: error.message }, 'a backup that restores wait for could not be read');
  };
  const listed = await listBackups().catch(failed);
  const open = (listed?.items ?? []).map(
    (one) => [`${one.metadata.namespace ?? ''}/${one.metadata.name}`, one] as const,
  );
  const known = new Map<string, EtcdBackup | 'absent'>(open.filter(([key]) => wanted.has(key)));
  const others = [...wanted].filter((key) => !known.has(key)).toSorted();
  await inParallel(byTurns(others, kube.now() ?? new Date()), parallel, async (key) => {
    const [namespace, name = ''] = key.split('/');
    const asked = kube.get<EtcdBackup>(resources.backups, namespace, name, { signal });
    const found = await asked.then((one) => one ?? ('absent' as const)).catch(failed);
    if (found) known.set(key, found);
  });
  return { known };
}

/**
 * Each has its turn once a round, minute after minute. Where a round begins is drawn anew: invocations of another
 * period would else meet the same turns for ever.
 */
function byTurns(keys: readonly string[], now: Date): readonly string[] {
  if (keys.length <= mostAsked) return keys;
  const turns = Math.ceil(keys.length / mostAsked);
  const minute = Math.floor(now.getTime() / turnMs);
  const drawn = drawnFor(`${Math.floor(minute / turns)}`);
  const turn = (minute + drawn) % turns;
  return keys.slice(turn * mostAsked, (turn + 1) * mostAsked);
}
