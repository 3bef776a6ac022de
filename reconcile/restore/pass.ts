import { isDeepStrictEqual } from 'node:util';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import type { ListBackups } from '../backup/list.ts';
import { type Kube, KubeError, resources } from '../interfaces/kube.ts';
import { inTurns } from '../stepping/in-turns.ts';
import type { StepResult } from '../stepping/result.ts';
import { actOnRestore } from './act.ts';
import { awaitedBy, awaitsNone, type BackupsAwaited, backupsAwaited, isUnderWay, waitsForBackup } from './awaited.ts';
import { decideRestore, type RestoreDecision } from './decide.ts';
import { observeRestore } from './observe.ts';
import { restoreStatus } from './report.ts';

export interface RestorePassContext {
  readonly kube: Kube;
  readonly signal: AbortSignal;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Says what would be done, and writes nothing. */
  readonly dryRun: boolean;
  /** As they were listed: where one of them has its name, a restore that waits is looked at in full. */
  readonly clusters: readonly EtcdCluster[];
  /** The backups that are not settled. */
  readonly listBackups: ListBackups;
}

/** `acted`: its cluster was made in this step, which has a first step to take. */
export interface RestoreResult extends StepResult {
  readonly namespace: string;
  /** It is under way: a step of its cluster may be news. */
  readonly isOpen: boolean;
  /** It waits for a backup that is being taken: when that ends, the restore may begin. */
  readonly awaitsBackup: boolean;
}

const parallel = 8;

/** One step for each of these restores, which are not finished. */
export async function stepRestores(
  restores: readonly EtcdRestore[],
  context: RestorePassContext,
): Promise<readonly RestoreResult[]> {
  const waiting = restores.filter((restore) => waitsForBackup(restore, context.clusters));
  const backups = waiting.length > 0 ? await backupsAwaited(waiting, context) : awaitsNone;
  return inTurns(restores, { atOnce: parallel, kube: context.kube }, async (restore): Promise<RestoreResult> => {
    const { namespace = '', name } = restore.metadata;
    const isOpen = !waiting.includes(restore);
    const step = await stepRestore(restore, backups, context);
    return { namespace, name, ...step, isOpen, awaitsBackup: !isOpen && isUnderWay(backups, restore) };
  });
}

type Step = Pick<StepResult, 'reason' | 'message' | 'outcome' | 'workRemains'>;

const rests: Step = { reason: 'Rests', message: 'nothing is to be done now', outcome: 'none', workRemains: false };

async function stepRestore(restore: EtcdRestore, backups: BackupsAwaited, context: RestorePassContext): Promise<Step> {
  const { kube, signal, log, dryRun } = context;
  const name = `${restore.metadata.namespace}/${restore.metadata.name}`;
  try {
    const decision = await decided(restore, backups, context);
    if (decision.kind === 'rest') return rests;
    if (decision.kind === 'make') log({ restore: name, dryRun }, 'a restore makes its cluster');
    if (dryRun) return rests;
    const { statement, made } = await actOnRestore(restore, decision, context);
    const status = restoreStatus(restore, statement, kube.now() ?? new Date());
    if (!isDeepStrictEqual(status, restore.status))
      await kube.updateStatus<EtcdRestore>(resources.restores, { ...restore, status }, { signal });
    const { reason, message } = statement;
    return { reason, message, outcome: made ? 'acted' : 'none', workRemains: made };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const isLost = error.class === 'precondition';
    log(
      { restore: name, problem: error.message },
      isLost ? 'another invocation steps this restore' : 'a restore failed',
    );
    return { ...rests, reason: error.reason, message: error.message, outcome: isLost ? 'lost' : 'failed' };
  }
}

/** A restore that waits needs no look at its cluster, until there is something to make it of. */
async function decided(
  restore: EtcdRestore,
  backups: BackupsAwaited,
  context: RestorePassContext,
): Promise<RestoreDecision> {
  if (waitsForBackup(restore, context.clusters)) {
    const backup = backups.known.get(awaitedBy(restore));
    // Not its turn.
    if (backup === undefined) return { kind: 'rest' };
    const decision = decideRestore({ restore, cluster: undefined, backup: backup === 'absent' ? undefined : backup });
    if (decision.kind !== 'make') return decision;
  }
  return decideRestore(await observeRestore(restore, context));
}
