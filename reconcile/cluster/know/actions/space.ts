import type { Successor } from '../membership/successor.ts';

export type SpaceAction =
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
    };
