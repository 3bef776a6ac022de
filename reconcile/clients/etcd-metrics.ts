import {
  EtcdError,
  type MemberCounters,
  type MemberId,
  type MemberMetrics,
  type SlowAbove,
} from '../interfaces/etcd.ts';
import { mostMembers } from './etcd-values.ts';
import type { Limit } from './limit.ts';
import { getBounded } from './metrics-port.ts';

/** etcd's own are about 200 KB. A member may run the image of a tenant: no more than a line of it is ever kept. */
const mostBytes = 1024 * 1024;
const longestLine = 4096;

/** Of a member that was started anew all are there before any quorum is; tried on each minor. */
const names = {
  id: 'etcd_server_id',
  hasLeader: 'etcd_server_has_leader',
  isLearner: 'etcd_server_is_learner',
  applied: 'etcd_server_proposals_applied_total',
  revision: 'etcd_debugging_mvcc_current_revision',
  // One for each other member, from a few seconds after the start on, whether it answers or not.
  other: 'etcd_network_peer_round_trip_time_seconds_count',
} as const;

const labelOfId: Readonly<Record<string, string>> = { [names.id]: 'server_id', [names.other]: 'To' };
const counted: ReadonlySet<string> = new Set([names.hasLeader, names.isLearner, names.applied, names.revision]);

const durations = {
  fsync: 'etcd_disk_wal_fsync_duration_seconds',
  commit: 'etcd_disk_backend_commit_duration_seconds',
} as const;

const counters = {
  leaderChanges: 'etcd_server_leader_changes_seen_total',
  failedProposals: 'etcd_server_proposals_failed_total',
  fsyncs: `${durations.fsync}_count`,
  commits: `${durations.commit}_count`,
} as const;

/** `GET /metrics`. @throws {EtcdError} for an answer that is not etcd's */
export function readMetrics(endpoint: string, limit: Limit): Promise<MemberMetrics> {
  return readOf(endpoint, limit, ({ name }) => counted.has(name) || labelOfId[name] !== undefined, metricsIn);
}

/** `GET /metrics`. @throws {EtcdError} for an answer that is not etcd's */
export function readCounters(endpoint: string, slow: SlowAbove, limit: Limit): Promise<MemberCounters> {
  const totals: ReadonlySet<string> = new Set(Object.values(counters));
  const buckets = [bucketOf('fsync', slow.fsyncMs), bucketOf('commit', slow.commitMs)];
  const isAsked = ({ name, labels }: Sample) =>
    totals.has(name) || buckets.some((one) => one?.name === name && one.labels === labels);
  return readOf(endpoint, limit, isAsked, (samples) => countersIn(samples, slow));
}

async function readOf<T>(
  endpoint: string,
  { signal }: Limit,
  isAsked: (sample: Sample) => boolean,
  read: (samples: readonly Sample[]) => T | undefined,
): Promise<T> {
  const sifted = sift(isAsked);
  const status = await getBounded(new URL('/metrics', endpoint), { signal, mostBytes, take: sifted.take });
  const refused = (words: string) => new EtcdError(`GET /metrics at ${endpoint}: ${words}`, 'refused');
  if (status !== 200) throw refused(`HTTP ${status}`);
  const found = read(sifted.samples());
  if (!found) throw refused('the answer is not etcd’s');
  return found;
}

/** A name, labels if any, and a value: https://prometheus.io/docs/instrumenting/exposition_formats */
const sample = /^(etcd_[a-z_]{1,80})(?:\{([^{}]{0,200})\})? ([\d.e+]{1,32})$/;

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/** Keeps the few lines that are asked for, and some more than there can be. */
function sift(isAsked: (sample: Sample) => boolean) {
  const kept: Sample[] = [];
  let rest = '';
  const look = (line: string) => {
    const [, name = '', labels = '', value = ''] = sample.exec(line) ?? [];
    const found = { name, labels, value: Number(value) };
    if (isAsked(found) && kept.length < 2 * mostMembers) kept.push(found);
  };
  return {
    take(chunk: Buffer): void {
      const lines = `${rest}${chunk.toString('latin1')}`.split('\n');
      rest = (lines.pop() ?? '').slice(0, longestLine);
      for (const line of lines) look(line);
    },
    samples: (): readonly Sample[] => kept,
  };
}

/** `undefined`: one is missing, there twice, or no such value. */
function metricsIn(samples: readonly Sample[]): MemberMetrics | undefined {
  const [memberId, ...more] = idsIn(samples, names.id);
  const others = idsIn(samples, names.other);
  const hasLeader = countIn(samples, names.hasLeader);
  const isLearner = countIn(samples, names.isLearner);
  const applied = countIn(samples, names.applied);
  const revision = countIn(samples, names.revision);
  if (memberId === undefined || more.length > 0 || others.length > mostMembers) return undefined;
  if (hasLeader === undefined || isLearner === undefined || applied === undefined || revision === undefined)
    return undefined;
  return { memberId, hasLeader: hasLeader !== 0n, isLearner: isLearner !== 0n, applied, revision, others };
}

/** As etcd prints them: in hex, without leading zeros. */
function idsIn(samples: readonly Sample[], name: string): readonly MemberId[] {
  const label = new RegExp(`^${labelOfId[name]}="([1-9a-f][0-9a-f]{0,15})"$`);
  return samples.flatMap((one) => (one.name === name ? (label.exec(one.labels)?.[1] ?? []) : []));
}

/** `undefined`: one is missing, there twice, or no such value. */
function countersIn(samples: readonly Sample[], slow: SlowAbove): MemberCounters | undefined {
  const total = (what: keyof typeof counters) => countIn(samples, counters[what]);
  const within = (what: keyof typeof durations, ms: number | undefined) => {
    const bucket = bucketOf(what, ms);
    return bucket ? countIn(samples, bucket.name, bucket.labels) : total(`${what}s`);
  };
  const [leaderChanges, failedProposals] = [total('leaderChanges'), total('failedProposals')];
  const [fsyncs, quickFsyncs] = [total('fsyncs'), within('fsync', slow.fsyncMs)];
  const [commits, quickCommits] = [total('commits'), within('commit', slow.commitMs)];
  if (leaderChanges === undefined || failedProposals === undefined) return undefined;
  if (fsyncs === undefined || quickFsyncs === undefined || quickFsyncs > fsyncs) return undefined;
  if (commits === undefined || quickCommits === undefined || quickCommits > commits) return undefined;
  return {
    leaderChanges: Number(leaderChanges),
    failedProposals: Number(failedProposals),
    fsyncs: Number(fsyncs),
    slowFsyncs: Number(fsyncs - quickFsyncs),
    commits: Number(commits),
    slowCommits: Number(commits - quickCommits),
  };
}

function bucketOf(what: keyof typeof durations, ms: number | undefined): Omit<Sample, 'value'> | undefined {
  return ms === undefined ? undefined : { name: `${durations[what]}_bucket`, labels: `le="${ms / 1000}"` };
}

/** They are doubles: above 2^53 they are not exact. */
function countIn(samples: readonly Sample[], name: string, labels = ''): bigint | undefined {
  const [found, ...more] = samples.filter((one) => one.name === name);
  const isCount = found?.labels === labels && Number.isSafeInteger(found.value) && found.value >= 0;
  return found && isCount && more.length === 0 ? BigInt(found.value) : undefined;
}
