import type { SnapshotSource } from '../api/backup-settings.ts';
import type { VolumeState } from '../api/etcd-peer.ts';
import type { TlsMode } from '../api/tls-settings.ts';
import type { InitialCluster } from './initial-cluster.ts';
import type { SealedDisk } from './sealed-disk.ts';

/** A volume's record of its member. It survives everything but the volume, so it is the strongest memory after etcd. */
export interface VolumeRecord {
  /** etcd's initial-cluster-token: volumes with the same one belong together. */
  readonly token: string;
  /** As it was, or is to be, at this member's first start. */
  readonly initialCluster: InitialCluster;
  /** Hex, as etcd prints it; known once the member was seen in a member list. */
  readonly clusterId?: string;
  /** Hex, as etcd prints it. */
  readonly memberId?: string;
  /**
   * Planned while bootstrapping; then the last one seen to run when no member had yet to change its own. Of a member
   * that was taken back meanwhile, the version that it ran.
   */
  readonly version: string;
  /** Written before a higher version may start: it may have run. Taken away once it is `version`, or was not kept. */
  readonly nextVersion?: string;
  /**
   * Written by a roll of all members to another version before it gives this member that version, and taken away when
   * the roll is over: it has begun. A member that is new, or cured, on some version begins none.
   */
  readonly rollsTo?: string;
  /** From this index of raft's log on, every entry was written by members of this minor. */
  readonly minorSince?: MinorSince;
  readonly tlsMode: TlsMode;
  /**
   * Of mode `CertManager`, and for life: its members let in certificates by names of the cluster's own. `Own`: since
   * its birth. `Taken`: a person approved it later.
   */
  readonly allowedNames?: 'Own' | 'Taken';
  /**
   * While bootstrapping: the UID of the peer that it was first started for, written before that start. Without it, none
   * ever ran on this volume; of another peer's pods, nothing is left that says on which version they ran.
   */
  readonly mayHaveStarted?: string;
  /** Its member left because its data differed from most others': kept so that a person can find out why. */
  readonly evidence?: true;
  /** When its member was given up though the spec needs as many: kept until another votes, and for a time after. */
  readonly replacedAt?: string;
  readonly state: VolumeState;
  /** Noted when it is sealed; absent where that was before there was such a note, until it is next seen well. */
  readonly disk?: SealedDisk;
  /** Members that a recovery left behind. Theirs is another history: wherever their data turn up, they never start. */
  readonly outvoted?: readonly OutvotedMember[];
  /** On the volume that a recovery goes on from, or that a snapshot is restored to, until that is over. */
  readonly recovery?: Recovery;
  /** Of the snapshot that its cluster was born from. Every volume that joins gets a copy. */
  readonly restoredFrom?: string;
  /** With this revision, or a later one, its cluster began from a snapshot. Joining volumes get a copy. */
  readonly revisionFloor?: number;
  /**
   * IDs of etcd clusters that were given up for this one: a volume of theirs never counts. Joining volumes get a copy.
   */
  readonly gaveUp?: readonly string[];
  /** The token under which the cluster's CAs were made, where that is the one of a cluster that was given up. */
  readonly authoritiesOf?: string;
  /** While it hibernates: the backup that was Ready when its member was told to stop. Absent: none was. */
  readonly hibernationBackup?: HibernationBackup;
  /** Of a rollback to an EtcdBackup: what that was, before anything was stopped for it. */
  readonly goesBackTo?: ResolvedBackup;
  /** Of what takes the place of a cluster that is given up: why that may end for it. */
  readonly trial?: Trial;
}

/**
 * `passed`: an etcd as its member is to be has served a copy of the restored data. `waived`: a person went without.
 * `recovered`: they are what was left of that cluster, which had ended before.
 */
export type Trial = 'passed' | 'waived' | 'recovered';

/** What an EtcdBackup stood for when it was looked at: whatever becomes of it, this stays. */
export interface ResolvedBackup {
  readonly name: string;
  readonly uid: string;
  /** Of the etcd cluster that it was taken of. Hex, as etcd prints it. */
  readonly clusterId: string;
  readonly snapshot: SnapshotSource;
}

/** An EtcdBackup of its cluster, taken just before its members stopped. */
export interface HibernationBackup {
  readonly name: string;
  readonly uid: string;
  /** metav1.Time: when it was over. */
  readonly endedAt: string;
  /** Up to which it holds all writes. Absent: not known. */
  readonly revision?: number;
}

export interface OutvotedMember {
  readonly name: string;
  /** Hex, as etcd prints it. */
  readonly memberId: string;
}

export interface Recovery {
  /** The ID of its approval, unique among recoveries of a cluster; of a restore, the ID of its wish. */
  readonly id: string;
  /** Of the last Job that was made for it, counted from 1; 0: none yet. No attempt is ever run twice on a volume. */
  readonly attempt: number;
  /** Where the members' pods were seen last: a pod that is gone from the API server may still run on a silent node. */
  readonly lastSeenOn: Readonly<Record<string, readonly string[]>>;
}

export interface MinorSince {
  /** Like `3.6`. */
  readonly minor: string;
  /** Decimal: such an index uses all 64 bits, and this is written into PVCs. */
  readonly index: string;
}
