import type { Successor } from '../membership/successor.ts';
import type { Ref } from '../ref.ts';

export type MembershipAction =
  /** Deletion: the peers are deleted; garbage collection deletes their StatefulSets and pods. */
  | { readonly kind: 'delete-peers'; readonly peers: readonly Ref[] }
  /** A pod that is not Ready is deleted, so that its StatefulSet recreates it from the same template. */
  | { readonly kind: 'recreate-pod'; readonly pod: Ref }
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
      /** As a person gave it, where one is asked (`spec.healing.mode`). */
      readonly approval?: string;
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
    };
