import type { Storage } from '../../../manifests/api/member-settings.ts';
import type { BackupWish } from '../../../manifests/render/backup-before.ts';
import type { IssuerRef } from '../../../manifests/render/cert-manager-certificate.ts';
import type { Authority, LeafPlan } from '../../../manifests/render/certificate-names.ts';
import type { SealedDisk } from '../../../manifests/render/sealed-disk.ts';
import type { MinorSince, OutvotedMember, SleptOn, VolumeRecord } from '../../../manifests/render/volume-record.ts';
import type { Remedy } from './certificates/remedy.ts';
import type { Validity } from './certificates/validity.ts';
import type { Inputs } from './inputs.ts';
import type { Finalizer } from './marks.ts';
import type { Successor } from './successor.ts';

/**
 * Everything a step can do to a cluster: plain data, one file per action under `actions/`.
 *
 * An action contains everything that it needs, because it is written into the lease before it is carried out: after a
 * crash, the next invocation finishes that very step, with the same token and the same member list.
 */
export type Action =
  /** Adds or removes a finalizer that deletion by policy needs. */
  | {
      readonly kind: 'set-finalizer';
      readonly present: boolean;
      /** Absent: `volumes`. */
      readonly finalizer?: Finalizer;
    }
  /** Deletion: the peers are deleted; garbage collection deletes their StatefulSets and pods. */
  | { readonly kind: 'delete-peers'; readonly peers: readonly Ref[] }
  /** Deletion with policy Delete, once no pod is left. */
  | { readonly kind: 'delete-volumes'; readonly volumes: readonly Ref[] }
  /** Services, the disruption budget and the network policy: made or corrected. */
  | { readonly kind: 'apply-shared'; readonly objects: readonly SharedObject[]; readonly minAvailable: number }
  /** Bootstrap ConfigMaps, made or corrected to match their volumes. */
  | { readonly kind: 'follow-volumes'; readonly peers: readonly string[] }
  /** Labels that another tool removed, and that lists, Services and the disruption budget need. */
  | { readonly kind: 'restore-labels'; readonly objects: readonly LabelledRef[] }
  /** Volumes are requested to grow. */
  | { readonly kind: 'grow-volumes'; readonly volumes: readonly (Ref & { readonly size: string })[] }
  /** Birth: every volume, then every peer, then every ConfigMap, as recorded; nothing is started yet. */
  | {
      readonly kind: 'prepare-members';
      readonly members: readonly { readonly name: string; readonly record: VolumeRecord }[];
      readonly inputs: Inputs;
      /** What a birth needs beside its members: made first, because members find each other by it. */
      readonly shared?: { readonly objects: readonly SharedObject[]; readonly minAvailable: number };
      /** Absent: another step starts them. */
      readonly starts?: FirstStart;
    }
  /** StatefulSets for peers that have none. */
  | { readonly kind: 'start-members'; readonly peers: readonly string[] }
  /** A volume that was never bound is recreated in the storage class or size that the spec now asks for. */
  | { readonly kind: 'replace-unbound-volume'; readonly volume: Ref; readonly storage: Storage }
  /** Members whose pods are not Ready get the effective configuration. */
  | { readonly kind: 'reconfigure-members'; readonly peers: readonly Ref[]; readonly inputs: Inputs }
  /** A member's pod is ended, so that it is recreated from its template; volume and membership stay. */
  | ({
      readonly kind: 'restart-member';
      /** Clients and peers cannot connect to it any more, so no other member has to be Ready first. */
      readonly cutOff?: true;
    } & Restart)
  /** CAs that are missing. What members trusted so far stays trusted: it is read from the Secrets in `trustedIn`. */
  | {
      readonly kind: 'make-authorities';
      readonly token: string;
      readonly authorities: readonly { readonly authority: Authority; readonly trustedIn: readonly string[] }[];
      /** The person's request that this answers. */
      readonly request?: string;
      /** Signed with them at once, where no other CA was trusted before. */
      readonly leaves: readonly LeafOrder[];
      readonly validity: Validity;
    }
  /** Leaves, signed anew, or with other CAs to trust beside them. No key is ever part of an action. */
  | { readonly kind: 'issue-certificates'; readonly leaves: readonly LeafOrder[]; readonly validity: Validity }
  /** New CAs, cross-signed by those before them, which stay trusted until they are retired. */
  | {
      readonly kind: 'rotate-authorities';
      readonly authorities: readonly Authority[];
      readonly request?: string;
      readonly validity: Validity;
    }
  /** From now on every member presents leaves of these CAs: the time is recorded, because leaves are renewed later. */
  | { readonly kind: 'note-served'; readonly authorities: readonly Authority[]; readonly since: string }
  /** Only the newest CA stays trusted; members learn that at their next start. */
  | { readonly kind: 'retire-authorities'; readonly authorities: readonly Authority[] }
  /** Deletion with policy Delete: the CAs are deleted after the volumes. */
  | { readonly kind: 'delete-authorities'; readonly secrets: readonly Ref[] }
  /** Certificates of cert-manager: made, or corrected to request what is wanted. */
  | { readonly kind: 'request-certificates'; readonly requests: readonly CertificateOrder[] }
  /** Certificates that cert-manager issued are copied into the mounted Secrets, with the CAs to trust. */
  | {
      readonly kind: 'hand-over-certificates';
      readonly at: string;
      readonly trust: readonly TrustOrder[];
      readonly leaves: readonly HandOver[];
      /** Secrets of cert-manager that are to be deleted with their Certificates. */
      readonly adopt: readonly { readonly name: string; readonly certificateUid: string }[];
    }
  /** All members stop; their volumes are marked first, with the backup that was taken before. */
  | {
      readonly kind: 'hibernate-members';
      readonly volumes: readonly Ref[];
      readonly statefulSets: readonly Ref[];
      readonly after?: SleptOn;
    }
  /** Members that hibernate may start again. */
  | { readonly kind: 'wake-members'; readonly volumes: readonly Ref[] }
  /** A pod that is not Ready is deleted, so that its StatefulSet recreates it from the same template. */
  | { readonly kind: 'recreate-pod'; readonly pod: Ref }
  /** The template of one member's next pod; then, where `restart` is given, the member restarts. */
  | { readonly kind: 'change-template'; readonly peer: Ref; readonly inputs: Inputs; readonly restart?: Restart }
  /** Volumes record which version their members run, and from which entry of raft's log on all are of its minor. */
  | {
      readonly kind: 'note-versions';
      readonly clusterId: string;
      readonly members: readonly { readonly name: string; readonly memberId: string; readonly version: string }[];
      readonly since?: MinorSince;
    }
  /** Empty entries are added to raft's log, up to the limit of one step, until every member has applied this index. */
  | { readonly kind: 'advance-log'; readonly clusterId: string; readonly index: string }
  /**
   * A learner is put on the member list, and its volume records that list for its first start. It is on the list
   * already where an invocation died in between, or where the list changed since.
   */
  | {
      readonly kind: 'add-learner';
      readonly name: string;
      readonly url: string;
      readonly clusterId: string;
      /** It has everything but a StatefulSet, and is started at once. */
      readonly start?: true;
    }
  /** A learner that is in sync, and sealed, becomes a voter. */
  | { readonly kind: 'promote-learner'; readonly name: string; readonly memberId: string; readonly clusterId: string }
  /**
   * A member is removed from the list, for ever. Its volume is marked first: the mark says that etcd-ratchet did it.
   */
  | {
      readonly kind: 'remove-member';
      readonly name: string;
      readonly memberId: string;
      readonly clusterId: string;
      readonly volume?: Ref;
      readonly successor?: Successor;
      /** Its data differ from those of these members at this revision: its volume is kept as evidence, always. */
      readonly corrupt?: { readonly revision: string; readonly trusted: readonly string[] };
      /** Its volume is kept, whatever the policy says. */
      readonly keeps?: true;
      /** When it was replaced: its volume is kept until another member votes, and for a time after that. */
      readonly replacedAt?: string;
      /** Afterwards its peer is deleted, and its volume unless that is kept. */
      readonly retires?: { readonly peer?: Ref; readonly keep: boolean; readonly url?: string };
      /** What the disruption budget says afterwards; absent: it stays as it is. */
      readonly minAvailable?: number;
    }
  /** A member of a cluster that is taken over is removed from the list, for ever, as a person approved. */
  | {
      readonly kind: 'remove-inherited';
      readonly name: string;
      readonly memberId: string;
      readonly clusterId: string;
      readonly approval: string;
      readonly successor?: Successor;
      readonly minAvailable?: number;
    }
  /** The objects of a removed member are deleted: its peer, and its volume unless that is kept. */
  | {
      readonly kind: 'retire-member';
      readonly name: string;
      readonly clusterId: string;
      readonly peer?: Ref;
      /** Absent for a peer that never had one. */
      readonly volume?: Ref & {
        readonly memberId: string;
        readonly state: 'released' | 'superseded';
        readonly keep: boolean;
        /** The etcd cluster that it belonged to, where that was given up for the present one. */
        readonly gaveUp?: string;
      };
      /** No member on the list has this peer URL, either. */
      readonly url?: string;
    }
  /** The volume of a replaced member has been kept for as long as the spec says. */
  | {
      readonly kind: 'delete-replaced-volume';
      readonly volume: Ref;
      readonly memberId: string;
      readonly clusterId: string;
      /** The etcd cluster that it belonged to, where that was given up for the present one. */
      readonly gaveUp?: string;
    }
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
      /** Their IDs. No recovery goes on from a member without a vote, however much data it has. */
      readonly voters: readonly string[];
      readonly outvoted: readonly OutvotedMember[];
      readonly volumes: readonly Ref[];
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
    }
  /** The Job is done: from now on its member starts without the flag, and the Job is deleted. */
  | {
      readonly kind: 'conclude-recovery';
      readonly volume: Ref;
      readonly job: Ref;
      readonly pod: Ref;
      readonly id: string;
      readonly attempt: number;
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
  /** An EtcdBackup is made, which an upgrade, a hibernation or the deletion waits for. */
  | { readonly kind: 'back-up'; readonly name: string; readonly wish: BackupWish }
  /** All history before this revision is compacted away. */
  | { readonly kind: 'compact'; readonly clusterId: string; readonly revision: string }
  /** A member rewrites its database without free pages. */
  | {
      readonly kind: 'defragment-member';
      readonly name: string;
      readonly memberId: string;
      readonly clusterId: string;
      /** Of its database before, in bytes. */
      readonly size: number;
      readonly at: string;
      /** Before this revision no history is left; absent where that is unknown. */
      readonly bareAt?: string;
      /** Takes leadership over first, if this member leads. */
      readonly successor?: Successor;
    }
  /** The alarm is disarmed, if every member's database is still below its limit. */
  | {
      readonly kind: 'disarm-alarm';
      readonly clusterId: string;
      readonly limits: readonly { readonly memberId: string; readonly bytes: number }[];
    }
  /** The alarm is disarmed, if all voters have the same data at this revision. */
  | { readonly kind: 'disarm-corrupt'; readonly clusterId: string; readonly revision: string }
  /** Volumes record which disk is behind them. */
  | { readonly kind: 'note-disks'; readonly volumes: readonly NotedVolume[] }
  /** As a person approved, members go on with the disks that are behind their PVCs now. */
  | {
      readonly kind: 'accept-disks';
      readonly approval: string;
      readonly clusterId: string;
      /** `pv` is absent where nothing is behind it yet. */
      readonly volumes: readonly (Ref & { readonly memberId: string; readonly pv?: string })[];
    }
  /** Members on other disks are kept from starting, or stopped: the UIDs of the ConfigMaps and pods to delete. */
  | {
      readonly kind: 'bar-members';
      readonly members: readonly { readonly name: string; readonly configMap?: string; readonly pod?: string }[];
    }
  /** From now on these members can never start on an empty volume. */
  | {
      readonly kind: 'seal-members';
      readonly clusterId: string;
      readonly members: readonly SealedMember[];
      /** With these the birth is over: then the Service for clients is made. */
      readonly opens?: true;
      /** The one that is sealed is a learner in sync: it becomes a voter. */
      readonly promotes?: true;
    };

export type ActionKind = Action['kind'];
export type ActionOf<K extends ActionKind> = Extract<Action, { kind: K }>;

/** What members are started with, in the step that records them. */
export interface FirstStart {
  /** Absent: plaintext. */
  readonly certificates?: {
    /** CAs that are made first. */
    readonly authorities: readonly Authority[];
    readonly leaves: readonly LeafPlan[];
    readonly validity: Validity;
  };
  /** A learner, which is put on the member list before it is started; absent: a birth. */
  readonly joins?: { readonly url: string; readonly clusterId: string };
  /** The one member of a birth from a snapshot: it is not started, but the Job that makes its data. */
  readonly restores?: { readonly id: string; readonly source: string };
}

/** How a pod is ended. */
export interface Restart {
  readonly pod: Ref;
  readonly by: 'eviction' | 'deletion';
  /** Takes leadership over first, if this member leads by then. */
  readonly successor?: Successor;
}

/** An object as it was observed: a namesake that was created later is another object. */
export interface Ref {
  readonly name: string;
  readonly uid: string;
}

interface NotedVolume extends Ref {
  /** The disk on which its member is proven to run; absent: the disk that is found when it is recorded. */
  readonly disk?: SealedDisk;
}

export interface LabelledRef extends Ref {
  readonly of: 'peer' | 'volume' | 'configMap' | 'statefulSet';
}

export interface LeafOrder {
  readonly plan: LeafPlan;
  readonly remedy: Remedy;
  /** Of the peer that owns it; absent for what the cluster owns. */
  readonly peerUid?: string;
}

export interface CertificateOrder {
  readonly plan: LeafPlan;
  readonly issuerRef: IssuerRef;
  /** Milliseconds. */
  readonly lifetime: number;
  /** Of the peer that owns it; absent for what the cluster owns. */
  readonly peerUid?: string;
}

/** Which CAs the holders of this CA's leaves must trust: by fingerprint, to be found in the named Secrets. */
export interface TrustOrder {
  readonly authority: Authority;
  readonly fingerprints: readonly string[];
  readonly sources: readonly string[];
}

export interface HandOver {
  readonly plan: LeafPlan;
  /** Of the leaf that was inspected; absent: only the CAs beside the present one change. */
  readonly fingerprint?: string;
  /** The Secret that it is in. */
  readonly source?: string;
  readonly peerUid?: string;
}

export interface SealedMember {
  readonly name: string;
  readonly memberId: string;
  /** What it runs. */
  readonly version: string;
}

export type SharedObject =
  | 'headless-service'
  | 'client-service'
  | 'disruption-budget'
  | 'network-policy'
  | 'external-service'
  /** The spec wants none: ours is deleted. */
  | 'no-network-policy'
  | 'no-external-service';
