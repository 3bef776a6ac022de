/** The databases of one etcd cluster, in bytes. */
export interface Space {
  quota: number;
  /** What its keys say now. */
  live: number;
  /** What they said before. */
  history: number;
  /** IDs of members that raised NOSPACE. */
  readonly alarms: Set<string>;
  readonly files: Map<string, File>;
  /** IDs of members whose defragmentation takes longer than anybody waits. */
  readonly slow: Set<string>;
  /** IDs of members whose disk has no room for a second file. */
  readonly cramped: Set<string>;
  /** Nobody counts what a compaction freed, as it may be until the next write. */
  uncounted?: boolean;
  /** Somebody was defragmented who gained nothing. */
  tried?: boolean;
  /** IDs of members that were asked to defragment, in that order. */
  readonly asked: string[];
}

export interface File {
  size: number;
  /** As it says, which on followers lags until the next write. */
  used: number;
  /** It answers nobody until then. */
  silentUntil?: number;
}
