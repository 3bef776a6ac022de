import type { DiskLog } from '../../../jobs/disk-log.ts';
import type { ToldFailure } from '../../../jobs/failure.ts';
import type { View } from './objects.ts';

/** What exists of a recovery or restore outside of the volumes. */
export type RecoveryView =
  | { readonly kind: 'unknown'; readonly cause: string }
  | {
      readonly kind: 'known';
      readonly job?: RecoveryJobView;
      readonly pods: readonly RecoveryPodView[];
      /** By name: nodes with pods, now or before, whose end must be seen. */
      readonly nodes: Readonly<Record<string, NodeState>>;
    };

export interface RecoveryJobView extends View {
  readonly name: string;
  /** Its recovery and attempt, as its volume names them. */
  readonly attempt: string;
  /** It is over, however it ended. */
  readonly failed: boolean;
  /** Why it, or its pod, has not started for minutes, in a code and in words of Kubernetes. */
  readonly notStarted?: { readonly reason: string; readonly message: string };
  /** It ended well. That of a recovery without a new life never does: etcd does not end by itself. */
  readonly completed?: true;
  /** Of a restore: it ends well only once an etcd has served a copy of what it made. */
  readonly trial?: true;
  /** Of a recovery: it makes a new life, and ends well. */
  readonly begins?: true;
  readonly endedAt?: Date;
}

export interface RecoveryPodView extends View {
  readonly name: string;
  /** UID of the Job that controls it. */
  readonly job?: string;
  /** It has come to its end, and well: the kubelet says so of a pod all of whose containers have. */
  readonly succeeded?: true;
  /** The node that it was bound to. */
  readonly node?: string;
  /** When it should have ended, where it was told to. */
  readonly endsBy?: Date;
  /** Its etcd is its own leader, and answers linearizable reads. */
  readonly ready: boolean;
  readonly unscheduled?: string;
  /** What holds it up, in kubelet's word. */
  readonly waiting?: string;
  /** Of the container that ended with an error, or of the trial's etcd, which kubelet starts again. */
  readonly failure?: {
    readonly container: string;
    readonly code: number;
    /** The kubelet's word, like `OOMKilled`. */
    readonly reason?: string;
    readonly words: string;
    /** Where the agent ran in it, and said why. */
    readonly told?: ToldFailure;
  };
}

/** What a Job has read on a member's disk, or is about to read. `job`: its name, which is of one situation. */
export type DiskLogView = { readonly job: string } & (
  | { readonly kind: 'reading' }
  | { readonly kind: 'read'; readonly log: DiskLog }
  | { readonly kind: 'unread'; readonly why: string }
);

export interface NodeView {
  readonly state: Exclude<NodeState, 'gone' | 'unknown'>;
  readonly labels: Readonly<Record<string, string>>;
  /** Not cordoned. */
  readonly schedulable: boolean;
}

/**
 * `silent`: its kubelet does not report. `outOfService`: a person confirmed that it is off. `unknown`: no right to
 * look.
 */
export type NodeState = 'ready' | 'silent' | 'outOfService' | 'gone' | 'unknown';
