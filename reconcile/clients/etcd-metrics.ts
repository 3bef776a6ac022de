import { EtcdError, type MemberId, type MemberMetrics } from '../interfaces/etcd.ts';
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

/** `GET /metrics`. @throws {EtcdError} for an answer that is not etcd's */
export async function readMetrics(endpoint: string, { signal }: Limit): Promise<MemberMetrics> {
  const sifted = sift();
  const status = await getBounded(new URL('/metrics', endpoint), { signal, mostBytes, take: sifted.take });
  const refused = (words: string) => new EtcdError(`GET /metrics at ${endpoint}: ${words}`, 'refused');
  if (status !== 200) throw refused(`HTTP ${status}`);
  const metrics = metricsIn(sifted.samples());
  if (!metrics) throw refused('the answer is not etcd’s');
  return metrics;
}

/** A name, labels if any, and a value: https://prometheus.io/docs/instrumenting/exposition_formats */
const sample = /^(etcd_[a-z_]{1,80})(?:\{([^{}]{0,200})\})? ([\d.e+]{1,32})$/;

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/** Keeps the few lines that are asked for, and some more than there can be. */
function sift() {
  const kept: Sample[] = [];
  let rest = '';
  const look = (line: string) => {
    const [, name = '', labels = '', value = ''] = sample.exec(line) ?? [];
    const isAsked = counted.has(name) || labelOfId[name] !== undefined;
    if (isAsked && kept.length < 2 * mostMembers) kept.push({ name, labels, value: Number(value) });
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

/** They are doubles: above 2^53 they are not exact. */
function countIn(samples: readonly Sample[], name: string): bigint | undefined {
  const [found, ...more] = samples.filter((one) => one.name === name);
  const isCount = found?.labels === '' && Number.isSafeInteger(found.value) && found.value >= 0;
  return found && isCount && more.length === 0 ? BigInt(found.value) : undefined;
}
