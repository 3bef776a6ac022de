import type { JobWork } from '../../../manifests/render/names.ts';

/**
 * A recovery in the world: its Job, what its pod does to the disk that it finds, and what etcd makes of it. Nobody but
 * its kubelet reaches what runs in that pod, so nothing of it is a process that anybody could ask, or join.
 */
export interface Job {
  readonly uid: string;
  readonly work: JobWork;
  /** `<id>/<number>` */
  readonly attempt: string;
  /** Of a restore: what its data are marked with, as its volume had it when the Job was made. */
  readonly token?: string;
  /** Of a restore: so many revisions ahead of the snapshot. */
  readonly bump?: number;
  /** Of a restore: its pod ends well only once an etcd has served a copy of what it made. */
  readonly trial?: true;
  /** Of a recovery: the token of the new life that it makes. Absent: it forces what is there. */
  readonly begins?: string;
  /** Its pod was made: it gets no second one. */
  readonly begun?: true;
  readonly failed?: true;
  readonly completed?: true;
}

export interface JobPod {
  readonly uid: string;
  readonly work: JobWork;
  /** UID of its Job. */
  readonly job: string;
  readonly attempt: string;
  readonly token?: string;
  readonly bump?: number;
  readonly trial?: true;
  readonly begins?: string;
  readonly leaving: boolean;
  /**
   * `marked`: the disk says that this attempt has run. `forced`: etcd has forgotten all others. `ready`: it leads
   * itself. `done`: a restore, or what makes a new life, has ended well.
   */
  readonly stage: 'waiting' | 'marked' | 'forced' | 'ready' | 'done' | 'failed';
  /** With which it has failed. */
  readonly exit?: {
    readonly container: 'set-aside' | 'etcd' | 'copy' | 'place' | 'trial' | 'force';
    readonly code: number;
    /** What the agent says. */
    readonly reason?: string;
  };
}

/** Which recovery or restore an attempt is of. */
export function idOf(attempt: string): string {
  return attempt.split('/')[0] ?? '';
}

export function numberOf(attempt: string): number {
  return Number(attempt.split('/')[1]);
}

/** By `--force-new-cluster`: it goes by the same ID, and has forgotten everybody else. */
export interface Forced {
  readonly clusterId: string;
  readonly from: string;
  /** The recovery. */
  readonly by: string;
  readonly memberId: string;
}

/** A new life of what was left of another cluster. */
export interface Revived {
  readonly from: string;
  /** The recovery. */
  readonly by: string;
  readonly memberId: string;
}

/** What a person was told when they approved. */
export interface Approval {
  /** Name of the member whose data are kept. */
  readonly kept: string;
  /** `led` of the cluster at that time. */
  readonly led: number;
}
