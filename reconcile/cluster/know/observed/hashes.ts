/** The hash of each voter's keys, all at one revision. */
export interface Hashes {
  readonly revision: bigint;
  readonly answers: readonly HashAnswer[];
}

export type HashAnswer = {
  readonly memberId: string;
  /** The revision that it had applied just before it was asked. */
  readonly revision?: bigint;
} & (
  | {
      readonly kind: 'hash';
      readonly hash: number;
      /** Compacted history is not in it: hashes are comparable only where this is the same. */
      readonly compactRevision: bigint;
    }
  /** It lacks that revision, and has applied every entry that any member has. */
  | { readonly kind: 'behind' }
  | { readonly kind: 'unknown'; readonly cause: string }
);
