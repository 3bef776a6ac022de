import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import { occasions } from '../../manifests/render/backup-before.ts';
import { labels } from '../../manifests/render/names.ts';
import { type Kube, resources } from '../interfaces/kube.ts';
import { isTrue } from '../objects/conditions.ts';
import { deleteOwn } from './delete-own.ts';

/** Of those that a cluster asked for: for each occasion and cluster ID; and of those that failed. */
const history = { good: 3, failed: 3 } as const;
/** Deletions of one step: the next upgrade goes on. */
const mostForgotten = 20;

/** Deletes earlier backups that a cluster asked for, but for the newest; none in the store. @throws {KubeError} */
export async function forgetEarlier(kube: Kube, ended: EtcdBackup, signal: AbortSignal): Promise<void> {
  const { namespace } = ended.metadata;
  if (occasionOf(ended) === undefined) return;
  const labelSelector = labels.wish;
  const { items } = await kube.list<EtcdBackup>(resources.backups, { namespace, labelSelector, signal });
  const ofCluster = items.filter(
    (one) => one.spec.clusterName === ended.spec.clusterName && occasionOf(one) !== undefined,
  );
  for (const backup of beyondHistory(ofCluster)) await deleteOwn(kube, resources.backups, backup.metadata, signal);
}

function occasionOf({ metadata }: EtcdBackup): string | undefined {
  return Object.values(occasions).find(({ annotation }) => metadata.annotations?.[annotation] !== undefined)?.field;
}

/** Of a life of the cluster that is over, its newest ones stay as well: its data may be had nowhere else. */
function beyondHistory(backups: readonly EtcdBackup[]): readonly EtcdBackup[] {
  const over = backups
    .filter(({ metadata, status }) => status?.finishedAt !== undefined && metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => endOf(b) - endOf(a));
  const isGood = ({ status }: EtcdBackup) => isTrue(status, 'Ready');
  const lives = Map.groupBy(over.filter(isGood), (one) => `${occasionOf(one)} ${one.status?.clusterID}`);
  const good = [...lives.values()].flatMap((life) => life.slice(history.good));
  const failed = over.filter((one) => !isGood(one)).slice(history.failed);
  return [...good, ...failed].toSorted((a, b) => endOf(a) - endOf(b)).slice(0, mostForgotten);
}

function endOf({ status }: EtcdBackup): number {
  return Date.parse(status?.finishedAt ?? '');
}
