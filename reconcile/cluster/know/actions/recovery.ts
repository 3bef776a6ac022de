import type { NewLife } from '../../../../manifests/render/new-life.ts';
import type { OutvotedMember, VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import type { Ref } from '../ref.ts';
import type { Inputs } from '../spec/inputs.ts';

/** Of a new life: what its first volume remembers. */
export type BegunLife = Pick<VolumeRecord, 'token' | 'initialCluster' | 'gaveUp' | 'authoritiesOf' | 'version'>;

export type RecoveryAction =
  /** An approval is consumed: the cluster goes on from this volume, without all others. */
  | {
      readonly kind: 'begin-recovery';
      /** Of the approval, and from now on of the recovery. */
      readonly id: string;
      readonly approval: string;
      readonly clusterId: string;
      readonly volume: Ref;
      readonly memberId: string;
      /** How far its log is decided, in decimal: no voter that answers may be further. */
      readonly raftIndex: string;
      /** Survivors whose disks were compared: while they tell no more than they did, none is further. */
      readonly shown?: readonly { readonly memberId: string; readonly raftIndex: string }[];
      /** Their IDs. No recovery goes on from a member without a vote, however much data it has. */
      readonly voters: readonly string[];
      readonly outvoted: readonly OutvotedMember[];
      readonly volumes: readonly Ref[];
    }
  /** Jobs read the logs on the disks of these members. Each of a situation: in another one it is read anew. */
  | {
      readonly kind: 'read-logs';
      readonly members: readonly { readonly name: string; readonly uid: string; readonly situation: string }[];
    }
  /** Volumes that the invocation which began a recovery did not mark, and those of a cluster that is given up. */
  | {
      readonly kind: 'outvote-members';
      readonly volume: Ref;
      readonly volumes: readonly Ref[];
      /** By a rollback: they are kept as long from then on as those of replaced members. */
      readonly replacedAt?: string;
    }
  /** In a recovery: all members stop, those without a StatefulSet as well. */
  | {
      readonly kind: 'stop-members';
      readonly volume: Ref;
      readonly statefulSets: readonly Ref[];
      readonly pods: readonly Ref[];
    }
  /** A Job makes a one-member cluster from the data of this volume. */
  | {
      readonly kind: 'force-new-cluster';
      readonly volume: Ref;
      readonly peer: Ref;
      readonly id: string;
      readonly attempt: number;
      readonly withoutCopy: boolean;
      /** Made of a copy. Absent: of the data themselves, and it goes by their ID. */
      readonly begins?: NewLife;
    }
  /** The Job is done: from now on its member starts without the flag, and the Job is deleted. */
  | {
      readonly kind: 'conclude-recovery';
      readonly volume: Ref;
      readonly job: Ref;
      /** Which has succeeded, of a new life, or is Ready. Absent: the Job is complete. */
      readonly pod?: Ref;
      readonly id: string;
      readonly attempt: number;
      /** What takes the place of the cluster that lost its quorum. */
      readonly begun?: BegunLife;
    }
  | { readonly kind: 'delete-recovery-job'; readonly job: Ref }
  /** A Job makes the first member's data out of the snapshot that the spec names. */
  | {
      readonly kind: 'restore-snapshot';
      readonly volume: Ref;
      readonly peer: Ref;
      /** Of all that the spec wishes of it. */
      readonly id: string;
      readonly attempt: number;
      /** Of the snapshot. */
      readonly source: string;
      /** So many revisions ahead of the snapshot. */
      readonly bump: number;
      /** Of a rollback: the revision that its volume remembers. */
      readonly floor?: number;
      /** Of a rollback, unless its approval goes without: an etcd serves a copy of it. */
      readonly trial?: true;
    }
  /** The Job is done: from now on its member may start, and the Job is deleted. */
  | {
      readonly kind: 'conclude-restore';
      readonly volume: Ref;
      readonly job: Ref;
      /** The pod of it that has succeeded, which is known a second before the Job says that it is complete. */
      readonly pod?: Ref;
      readonly id: string;
      readonly attempt: number;
      /** Of a rollback: from now on it is finished. */
      readonly approval?: string;
      /** Its member has everything but a StatefulSet, and is started at once. */
      readonly starts?: true;
    }
  /** A rollback: the member of the cluster to come is recorded. The present cluster runs on meanwhile. */
  | {
      readonly kind: 'begin-rollback';
      readonly approval: string;
      readonly member: { readonly name: string; readonly record: VolumeRecord };
      readonly inputs: Inputs;
    }
  /** A rollback whose approval was taken back before its data were restored. */
  | { readonly kind: 'call-off-rollback'; readonly name: string; readonly peer?: Ref; readonly volume?: Ref }
  /** Peers of a cluster that was given up, when all its members have ended; their volumes are kept. */
  | { readonly kind: 'drop-peers'; readonly volume: Ref; readonly peers: readonly Ref[] }
  /** The alarm is disarmed, if all voters have the same data at this revision. */
  | { readonly kind: 'disarm-corrupt'; readonly clusterId: string; readonly revision: string };
