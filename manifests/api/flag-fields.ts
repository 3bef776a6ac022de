import { parseDuration } from './duration.ts';

interface AutoCompaction {
  readonly mode: string;
  readonly retention: string | number;
}

/**
 * Fields of `spec.etcd` that are flags of etcd, with their values. `extraArgs` may set none of these
 * (reserved-flags.ts), and a field without a row does not compile (etcd-args.ts).
 */
export const flagFields = {
  quotaBackendBytes: { 'quota-backend-bytes': (bytes: number | string) => bytes },
  autoCompaction: {
    'auto-compaction-mode': ({ mode }: AutoCompaction) => mode.toLowerCase(),
    'auto-compaction-retention': ({ retention }: AutoCompaction) => retention,
  },
  heartbeatInterval: { 'heartbeat-interval': parseDuration },
  electionTimeout: { 'election-timeout': parseDuration },
  snapshotCount: { 'snapshot-count': (entries: number) => entries },
} as const;
