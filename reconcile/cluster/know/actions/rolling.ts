import type { MinorSince } from '../../../../manifests/render/volume-record.ts';
import type { Successor } from '../membership/successor.ts';
import type { Ref } from '../ref.ts';
import type { Inputs } from '../spec/inputs.ts';

export type RollingAction =
  /** Members whose pods are not Ready get the effective configuration. */
  | { readonly kind: 'reconfigure-members'; readonly peers: readonly Ref[]; readonly inputs: Inputs }
  /** A member's pod is ended, so that it is recreated from its template; volume and membership stay. */
  | ({
      readonly kind: 'restart-member';
      /** Clients and peers cannot connect to it any more, so no other member has to be Ready first. */
      readonly cutOff?: true;
    } & Restart)
  /** The template of one member's next pod; then, where `restart` is given, the member restarts. */
  | {
      readonly kind: 'change-template';
      readonly peer: Ref;
      readonly inputs: Inputs;
      /** A step of a roll of all members to this version, which its volume is told first. */
      readonly rolls?: true;
      readonly restart?: Restart;
    }
  /** StatefulSets that another client changed are written as their peers ask for; their pods stay. */
  | { readonly kind: 'put-back-templates'; readonly peers: readonly Ref[] }
  /** Volumes record which version their members run, and from which entry of raft's log on all are of its minor. */
  | {
      readonly kind: 'note-versions';
      readonly clusterId: string;
      readonly members: readonly { readonly name: string; readonly memberId: string; readonly version: string }[];
      readonly since?: MinorSince;
    }
  /** Empty entries are added to raft's log, up to the limit of one step, until every member has applied this index. */
  | { readonly kind: 'advance-log'; readonly clusterId: string; readonly index: string };

/** How a pod is ended. */
export interface Restart {
  readonly pod: Ref;
  readonly by: 'eviction' | 'deletion';
  /** Takes leadership over first, if this member leads by then. */
  readonly successor?: Successor;
}
