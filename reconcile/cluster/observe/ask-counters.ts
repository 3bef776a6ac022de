import { abortAfter } from '../../../manifests/abort-after.ts';
import type { HaltAbove } from '../../../manifests/api/rollout.ts';
import { type Etcd, EtcdError, type MemberCounters } from '../../interfaces/etcd.ts';
import { type EtcdWay, withEtcd } from '../etcd-way.ts';
import { type Counted, isSampleDue, processesOf, slowAbove } from '../know/counters.ts';
import type { Observation } from '../know/observation.ts';
import { endpointOf } from './ask-etcd.ts';

/** For all members at once, in milliseconds. A step that finds nothing to do waits for it. */
const longestMs = 1_000;

/**
 * What the members have counted since they started, where the fleet halts on it. Not read where it was read within a
 * minute; nor taken as read where one of them does not answer.
 */
export async function askCounters(
  way: EtcdWay,
  { cluster, slots, at }: Pick<Observation, 'cluster' | 'slots' | 'at'>,
  above: HaltAbove,
  signal: AbortSignal,
): Promise<Counted> {
  const members = slots.filter(({ peer }) => peer?.current);
  const isWhole = members.every(({ endpoint, pod }) => endpoint.kind === 'known' && pod?.container.startedAt);
  const of = processesOf(slots);
  if (members.length === 0 || !isWhole || !isSampleDue(cluster, { ...of, above }, at)) return { above };
  const asking = { signal: abortAfter(longestMs, signal), slow: slowAbove(above) };
  try {
    const all = await withEtcd(way, (etcd: Etcd) =>
      Promise.all(members.map((slot) => etcd.counters(endpointOf(slot), asking))),
    );
    return { above, read: { ...of, sum: sumOf(all) } };
  } catch (error) {
    if (error instanceof EtcdError) return { above };
    throw error;
  }
}

function sumOf(all: readonly MemberCounters[]): MemberCounters {
  const sum = (of: keyof MemberCounters) => all.reduce((total, one) => total + one[of], 0);
  return {
    leaderChanges: sum('leaderChanges'),
    failedProposals: sum('failedProposals'),
    fsyncs: sum('fsyncs'),
    slowFsyncs: sum('slowFsyncs'),
    commits: sum('commits'),
    slowCommits: sum('slowCommits'),
  };
}
