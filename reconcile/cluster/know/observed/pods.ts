import type { View } from './objects.ts';

export interface PodView extends View {
  readonly ready: boolean;
  /** Of a terminating pod: when its termination grace period is over. */
  readonly endsBy?: Date;
  /**
   * Whether it was made from its StatefulSet's present template; `unknown` until the controller has seen that template.
   */
  readonly upToDate: 'yes' | 'no' | 'unknown';
  /** Of etcd, as its image's tag says; the peer may have another one since. */
  readonly version?: string;
  readonly address?: string;
  /** The limit of its etcd's database in bytes, as it was started. */
  readonly quota?: number;
  /** The CAs that it was started with, by the word in its template. */
  readonly trust?: string;
  readonly createdAt: Date;
  /** Where it runs, once it is scheduled. */
  readonly node?: string;
  /** When it got that node; absent: unknown. */
  readonly scheduledAt?: Date;
  /** `Unschedulable` and the like; absent once it is scheduled. */
  readonly unscheduled?: string;
  readonly container: ContainerView;
  /** Why the whole pod has ended, like `Evicted` or `DeadlineExceeded`: its phase is `Failed`, and it is recreated. */
  readonly failed?: string;
  /** An init container or sidecar that keeps it from being Ready. */
  readonly beside?: OtherContainer;
  /** Whether kubelet has mounted its volumes and set up its network (`PodReadyToStartContainers`); absent: unknown. */
  readonly hasSandbox?: boolean;
  /** What it mounts beside its own PVC; absent: unknown. */
  readonly mounts?: MountsView;
}

export interface MountsView {
  /** By name. */
  readonly secrets: readonly string[];
  /** Something else that may not exist: a ConfigMap, another PVC, a driver's own. */
  readonly others: boolean;
}

/** A container of a member's pod that is not etcd's. */
export interface OtherContainer {
  readonly name: string;
  /** Kubelet's reason for waiting, or for its end. */
  readonly reason: string;
  readonly restarts: number;
  readonly exit?: ContainerExit;
}

/** How a container ended, in the codes of kubelet and the runtime. */
export interface ContainerExit {
  /** Its exit code; 128 and the signal's number where a signal ended it. */
  readonly code: number;
  /**
   * `Error` where the program ended by itself; `OOMKilled`, `StartError`, `ContainerCannotRun`,
   * `ContainerStatusUnknown`, …
   */
  readonly reason: string;
}

/** The etcd container. */
export interface ContainerView {
  readonly state: 'unknown' | 'waiting' | 'running' | 'terminated';
  /** Kubelet's reason, e.g. `ImagePullBackOff`, `CrashLoopBackOff`. */
  readonly reason: string;
  /** Whether it ever ran in this pod. A container that never ran wrote nothing. */
  readonly everStarted: boolean;
  readonly restarts: number;
  /** Its last log lines when it last ended; empty if it never did. */
  readonly lastWords: string;
  /** The revision of its own data, where it exited because they differ from its peers', and logged that. */
  readonly comparedAt?: bigint;
  /** When its present run began, or its last one where it does not run; absent if it never ran, or is unknown. */
  readonly startedAt?: Date;
  /** How it last ended. */
  readonly exit?: ContainerExit;
  /** Its memory limit, a quantity; absent: none, or unknown. */
  readonly memoryLimit?: string;
  /**
   * How long its startup probe gives each run before kubelet ends it, in milliseconds; absent: no probe, or unknown.
   */
  readonly startupMs?: number;
}
