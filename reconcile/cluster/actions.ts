import type { Storage } from '../../manifests/api/member-settings.ts';
import type { IssuerRef } from '../../manifests/build/cert-manager-certificate.ts';
import type { Authority, LeafPlan } from '../../manifests/build/certificate-names.ts';
import type { MinorSince, OutvotedMember, VolumeRecord } from '../../manifests/build/volume-record.ts';
import type { Remedy } from './certificates/due.ts';
import type { Validity } from './certificates/validity.ts';
import type { Inputs } from './effective.ts';
import type { Successor } from './leadership.ts';

/**
 * Everything a step can do to a cluster: plain data, one file per action under `actions/`.
 *
 * An action says everything that it needs, because it is written into the claim before it is carried out: whoever takes
 * over after a crash finishes that very step, with the same token and the same member list.
 */
export type Action =
  /** Adds or removes the finalizer that deletion by policy needs. */
  | { readonly kind: 'set-finalizer'; readonly present: boolean }
  /** Deletion: the peers go, and with them, by their owner references, StatefulSets and pods. */
  | { readonly kind: 'delete-peers'; readonly peers: readonly Ref[] }
  /** Deletion with policy Delete, once no pod is left. */
  | { readonly kind: 'delete-volumes'; readonly volumes: readonly Ref[] }
  /** Services, disruption budget: made, or put back to what they should be. */
  | { readonly kind: 'apply-shared'; readonly objects: readonly SharedObject[]; readonly minAvailable: number }
  /** Bootstrap ConfigMaps, made or corrected to say what their volumes say. */
  | { readonly kind: 'follow-volumes'; readonly peers: readonly string[] }
  /** Labels that something took off, and that lists, Services and the disruption budget go by. */
  | { readonly kind: 'restore-labels'; readonly objects: readonly LabelledRef[] }
  /** Volumes are asked to become larger. */
  | { readonly kind: 'grow-volumes'; readonly volumes: readonly (Ref & { readonly size: string })[] }
  /** Birth: every volume, then every peer, then every ConfigMap, as recorded; nothing is started yet. */
  | {
      readonly kind: 'prepare-members';
      readonly members: readonly { readonly name: string; readonly record: VolumeRecord }[];
      readonly inputs: Inputs;
    }
  /** StatefulSets for peers that have none. */
  | { readonly kind: 'start-members'; readonly peers: readonly string[] }
  /** A volume that was never bound is made anew, in the storage class or size that the spec now asks for. */
  | { readonly kind: 'replace-unbound-volume'; readonly volume: Ref; readonly storage: Storage }
  /** Members whose pods are not Ready get the effective configuration. */
  | { readonly kind: 'reconfigure-members'; readonly peers: readonly Ref[]; readonly inputs: Inputs }
  /** A member's pod goes, so that it is made anew from its template; volume and membership stay. */
  | {
      readonly kind: 'restart-member';
      readonly pod: Ref;
      readonly by: 'eviction' | 'deletion';
      /** To whom leadership goes first, if this member has it when it is to go. */
      readonly successor?: Successor;
      /** It accepts nobody any more, so that no other one has to be Ready before it goes. */
      readonly cutOff?: true;
    }
  /** CAs that are missing. What members trusted so far stays trusted: it is read from the Secrets in `trustedIn`. */
  | {
      readonly kind: 'make-authorities';
      readonly token: string;
      readonly authorities: readonly { readonly authority: Authority; readonly trustedIn: readonly string[] }[];
      /** What a person asked for, and has with that. */
      readonly request?: string;
      /** Signed by them at once, where nobody trusted another CA before. */
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
  /** From now on everybody presents leaves of these CAs: the time is written down, because leaves are renewed meanwhile. */
  | { readonly kind: 'note-served'; readonly authorities: readonly Authority[]; readonly since: string }
  /** Only the newest CA stays trusted; members learn that at their next start. */
  | { readonly kind: 'retire-authorities'; readonly authorities: readonly Authority[] }
  /** Deletion with policy Delete: the CAs go when the volumes have gone. */
  | { readonly kind: 'delete-authorities'; readonly secrets: readonly Ref[] }
  /** Certificates that cert-manager is to answer: made, or made to ask for what is wanted. */
  | { readonly kind: 'request-certificates'; readonly requests: readonly CertificateOrder[] }
  /** What cert-manager issued goes into the Secrets that are mounted, with the CAs to trust beside it. */
  | {
      readonly kind: 'hand-over-certificates';
      readonly at: string;
      readonly trust: readonly TrustOrder[];
      readonly leaves: readonly HandOver[];
      /** Secrets of cert-manager's that are to go with their Certificates. */
      readonly adopt: readonly { readonly name: string; readonly certificateUid: string }[];
    }
  /** All members stop; their volumes say so first. */
  | { readonly kind: 'hibernate-members'; readonly volumes: readonly Ref[]; readonly statefulSets: readonly Ref[] }
  /** Members that sleep may be started again. */
  | { readonly kind: 'wake-members'; readonly volumes: readonly Ref[] }
  /** A pod that is not Ready goes, so that its StatefulSet makes it anew from the same template. */
  | { readonly kind: 'recreate-pod'; readonly pod: Ref }
  /** The template that one member's next pod is made from; the pod that runs stays. */
  | { readonly kind: 'change-template'; readonly peer: Ref; readonly inputs: Inputs }
  /** Volumes are told which version their members run, and from which entry of raft's log on all are of its minor. */
  | {
      readonly kind: 'note-versions';
      readonly clusterId: string;
      readonly members: readonly { readonly name: string; readonly memberId: string; readonly version: string }[];
      readonly since?: MinorSince;
    }
  /** Entries that change nothing are added to raft's log, as far as one step may, until every member has applied this index. */
  | { readonly kind: 'advance-log'; readonly clusterId: string; readonly index: string }
  /**
   * A learner is put on the member list, and the list as it then is on its volume, for its first start. It is on the list already
   * where somebody died in between, or where the others changed since.
   */
  | { readonly kind: 'add-learner'; readonly name: string; readonly url: string; readonly clusterId: string }
  /** A learner that is in sync, and sealed, becomes a voter. */
  | { readonly kind: 'promote-learner'; readonly name: string; readonly memberId: string; readonly clusterId: string }
  /** A member leaves the list, for ever. Its volume says so before, so that whoever finds it knows that it was us. */
  | {
      readonly kind: 'remove-member';
      readonly name: string;
      readonly memberId: string;
      readonly clusterId: string;
      readonly volume?: Ref;
      readonly successor?: Successor;
      /** It holds other data than these members agree on at this revision: its volume is evidence, and kept whatever the policy says. */
      readonly corrupt?: { readonly revision: string; readonly trusted: readonly string[] };
      /** Its volume is kept, whatever the policy says. */
      readonly keeps?: true;
      /** When it was given up, though the spec asks for as many: its volume is kept until another one votes, and for a time after that. */
      readonly replacedAt?: string;
    }
  /** What a removed member had goes: its peer, and its volume unless that is to be kept. */
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
      };
      /** Nobody on the list is to be reached there, either. */
      readonly url?: string;
    }
  /** The volume of a member that was replaced has been kept for as long as the spec says. */
  | {
      readonly kind: 'delete-replaced-volume';
      readonly volume: Ref;
      readonly memberId: string;
      readonly clusterId: string;
    }
  /** An approval is consumed: the cluster goes on from this volume, and without all others. */
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
      /** Their IDs. Who has no vote is nobody to go on from, however much it has. */
      readonly voters: readonly string[];
      readonly outvoted: readonly OutvotedMember[];
      readonly volumes: readonly Ref[];
    }
  /** The volumes that whoever began a recovery did not come to mark. */
  | { readonly kind: 'outvote-members'; readonly volume: Ref; readonly volumes: readonly Ref[] }
  /** In a recovery: all members stop, those without a StatefulSet as well. */
  | {
      readonly kind: 'stop-members';
      readonly volume: Ref;
      readonly statefulSets: readonly Ref[];
      readonly pods: readonly Ref[];
    }
  /** A Job makes a cluster of one out of what this volume holds. */
  | {
      readonly kind: 'force-new-cluster';
      readonly volume: Ref;
      readonly peer: Ref;
      readonly id: string;
      readonly attempt: number;
      readonly withoutCopy: boolean;
    }
  /** It has: from now on its member is started without the flag, and the Job goes. */
  | {
      readonly kind: 'conclude-recovery';
      readonly volume: Ref;
      readonly job: Ref;
      readonly pod: Ref;
      readonly id: string;
      readonly attempt: number;
    }
  | { readonly kind: 'delete-recovery-job'; readonly job: Ref }
  /** What keys were before this revision is forgotten. */
  | { readonly kind: 'compact'; readonly clusterId: string; readonly revision: string }
  /** A member rewrites its database without what is free in it. */
  | {
      readonly kind: 'defragment-member';
      readonly name: string;
      readonly memberId: string;
      readonly clusterId: string;
      /** Of its database before, in bytes. */
      readonly size: number;
      readonly at: string;
      /** The revision that nothing is left to forget before; absent where that is not known. */
      readonly bareAt?: string;
      /** To whom leadership goes first, if this member has it. */
      readonly successor?: Successor;
    }
  /** Writes are let in again, if every member's database is still below its limit. */
  | {
      readonly kind: 'disarm-alarm';
      readonly clusterId: string;
      readonly limits: readonly { readonly memberId: string; readonly bytes: number }[];
    }
  /** Clients are let in again, if every voter holds the same data at this revision. */
  | { readonly kind: 'disarm-corrupt'; readonly clusterId: string; readonly revision: string }
  /** Volumes remember which disk is behind them. */
  | { readonly kind: 'note-disks'; readonly volumes: readonly Ref[] }
  /** As a person approved, members go on with the disks that are behind their claims by now. */
  | {
      readonly kind: 'accept-disks';
      readonly approval: string;
      readonly clusterId: string;
      /** `pv` is absent where nothing is behind it yet. */
      readonly volumes: readonly (Ref & { readonly memberId: string; readonly pv?: string })[];
    }
  /** Members whose claims have another disk can't start, and don't run: by UID what lets them. */
  | {
      readonly kind: 'bar-members';
      readonly members: readonly { readonly name: string; readonly configMap?: string; readonly pod?: string }[];
    }
  /** From now on these members can never start on an empty volume. */
  | { readonly kind: 'seal-members'; readonly clusterId: string; readonly members: readonly SealedMember[] };

export type ActionKind = Action['kind'];
export type ActionOf<K extends ActionKind> = Extract<Action, { kind: K }>;

/** An object as it was observed: a namesake that was created meanwhile is something else. */
export interface Ref {
  readonly name: string;
  readonly uid: string;
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

/** Which CAs holders of this CA's leaves are to trust: by fingerprint, to be found in the Secrets named. */
export interface TrustOrder {
  readonly authority: Authority;
  readonly fingerprints: readonly string[];
  readonly sources: readonly string[];
}

export interface HandOver {
  readonly plan: LeafPlan;
  /** Of the leaf that was looked at; absent: only the CAs beside the present one change. */
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

export type SharedObject = 'headless-service' | 'client-service' | 'disruption-budget';
