import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Egress } from '../../manifests/egress/egress.ts';
import { type Kube, KubeError } from '../interfaces/kube.ts';
import { ownImage } from '../jobs/own-image.ts';
import { inTurns } from '../stepping/in-turns.ts';
import { traced } from '../stepping/traced.ts';
import { type BackupResult, stepBackup } from './step.ts';

export interface BackupsContext {
  readonly kube: Kube;
  readonly holder: { readonly pod: string; readonly uid: string };
  readonly clusters: readonly EtcdCluster[];
  /** Where the installation lets Jobs go. Absent: what one that says nothing allows. */
  readonly egress?: Egress | undefined;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  readonly signal: AbortSignal;
}

const parallel = 16;
/** After one that failed, in seconds. */
const retrySeconds = 5;

/** One step for each of these backups, side by side. A single one's failure is in its result. */
export async function stepBackups(
  backups: readonly EtcdBackup[],
  { kube, holder, clusters, egress, log, signal }: BackupsContext,
): Promise<readonly BackupResult[]> {
  let asked: Promise<string> | undefined;
  const image = () => {
    asked ??= ownImage(kube, holder, signal);
    return asked;
  };
  return inTurns(backups, { atOnce: parallel, kube }, async (backup) => {
    const { namespace = '', name } = backup.metadata;
    try {
      const result = await traced('backup', { backup: `${namespace}/${name}` }, async (note) => {
        const done = await stepBackup(backup, { kube, clusters, image, egress, signal });
        note({ reason: done.reason, outcome: done.outcome });
        return done;
      });
      log({ backup: `${namespace}/${name}`, reason: result.reason, outcome: result.outcome }, result.message);
      return result;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log({ backup: `${namespace}/${name}`, outcome: 'failed', problem: message }, 'the step could not be taken');
      const reason = error instanceof KubeError ? error.reason : 'Unexpected';
      return {
        namespace,
        name,
        reason,
        message,
        outcome: 'failed',
        workRemains: true,
        afterSeconds: retrySeconds,
        backup,
      } satisfies BackupResult;
    }
  });
}
