import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { backupDefaults } from '../../manifests/api/spec-defaults.ts';
import type { Egress } from '../../manifests/egress/egress.ts';
import type { Said } from './said.ts';

/** What one step looks at: the resource, its cluster, and the Job of the attempt that is due or under way. */
export interface BackupSituation {
  readonly backup: EtcdBackup;
  /** `undefined`: there is none of that name, or none is meant. */
  readonly cluster: EtcdCluster | undefined;
  readonly attempt: Attempt;
  /** `undefined`: there is none of its name. */
  readonly job: JobView | undefined;
  /** Why the PersistentVolumeClaim that it names can't be used: it is a member's. */
  readonly memberVolume?: string;
  /** Whether there is a certificate for backups of the cluster, of its own. Only asked before a Job is made. */
  readonly hasCertificate?: boolean;
  /** Why no Job is made with what it names: its owner does not offer it. */
  readonly notOffered?: string;
  /** Where the installation lets its Jobs go. Absent: what one that says nothing allows. */
  readonly egress?: Egress;
  /** By the API server's clock. */
  readonly at: Date;
}

type Stage = 'Take' | 'Verify';

export interface Attempt {
  readonly stage: Stage;
  readonly number: number;
  /** Whether status says that its Job was made. */
  readonly begun: boolean;
  /** Not made before then. */
  readonly notBefore?: Date;
}

export interface JobView {
  readonly name: string;
  readonly uid: string;
  /** Whether this very EtcdBackup controls it. */
  readonly ours: boolean;
  /** Not ours: it is of an earlier EtcdBackup of this name, and goes with that. */
  readonly leaving: boolean;
  /** The whole name of the object that it is about. */
  readonly object: string;
  readonly startedAt: string;
  /** By the API server's clock. Absent: its pod is gone, or not made yet. */
  readonly podCreatedAt?: string;
  readonly state: JobState;
}

export type JobState =
  | { readonly kind: 'under-way'; readonly trouble?: Trouble }
  /** `kept`: only what something put into its pod keeps that from ending. */
  | { readonly kind: 'said'; readonly said: Said; readonly kept?: true }
  /** It ended without a word of the agent. */
  | { readonly kind: 'broke'; readonly reason: Breaking; readonly words: string };

/** What its pod waits for, in Kubernetes' code and words. */
export interface Trouble {
  readonly code: string;
  readonly words: string;
  /** When the pod was made, or the last of its containers ended. */
  readonly since: string;
}

/** What ends a pod, besides the agent itself. */
export type Breaking =
  | 'OutOfMemory'
  | 'Evicted'
  | 'NodeLost'
  | 'PodGone'
  | 'JobGone'
  | 'DeadlineExceeded'
  | 'RestoreFailed'
  | 'EtcdNotStarted'
  | 'AgentBroke';

/** The attempt that is due, or under way. */
export function attemptOf({ status }: EtcdBackup): Attempt {
  const { attempt, lastFailure } = status ?? {};
  if (attempt === undefined) {
    const notBefore = lastFailure?.retryAt;
    return { stage: 'Take', number: 1, begun: false, ...(notBefore && { notBefore: new Date(notBefore) }) };
  }
  const { stage, number } = attempt;
  if (lastFailure?.retryAt === undefined) return { stage, number, begun: true };
  return { stage, number: number + 1, begun: false, notBefore: new Date(lastFailure.retryAt) };
}

/** Attempts of each stage. */
export const maxAttempts = 5;

/** Whether nothing is left to do for it, also of what its Jobs left. */
export function isSettled(backup: EtcdBackup): boolean {
  return isFinished(backup) && backup.status?.settled !== false;
}

/** Whether its drills have volumes of a StorageClass: Kubernetes keeps each for as long as the drill's pod. */
export function hasScratchVolumes({ spec }: EtcdBackup): boolean {
  return spec.scratch?.storageClassName !== undefined && (spec.verify ?? backupDefaults.verify) === 'Restore';
}

/** Whether it has ended, however it did, or is being deleted. */
export function isFinished({ metadata, status }: EtcdBackup): boolean {
  return status?.finishedAt !== undefined || metadata.deletionTimestamp !== undefined;
}

/** So long a backup waits by itself. What is not there by then asks for a person: seconds. */
const patience = 600;

/** Whether what the attempt waits for is not there, though there was time enough. */
export function isOverdue({ backup, attempt, job, at }: BackupSituation): boolean {
  const { creationTimestamp, takenAt } = { ...backup.metadata, ...backup.status };
  const begun = [creationTimestamp, takenAt, job?.startedAt].map((time) => Date.parse(time ?? ''));
  const since = Math.max(...begun.filter((time) => !Number.isNaN(time)), attempt.notBefore?.getTime() ?? 0);
  return at.getTime() - since > patience * 1000;
}
