import { isDeepStrictEqual } from 'node:util';
import { type ClusterCounters, mostSamples } from '../../../manifests/api/cluster-counters.ts';
import { parseDuration } from '../../../manifests/api/duration.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { HaltAbove } from '../../../manifests/api/rollout.ts';
import { hashOf, inputsHash } from '../../../manifests/render/inputs-hash.ts';
import type { MemberCounters, SlowAbove } from '../../interfaces/etcd.ts';
import { timestamp } from '../../time/timestamp.ts';
import type { Slot } from './observation.ts';

/**
 * What members count (`spec.rollout.haltAbove`), as a cluster's status keeps it: of ten minutes, from the last start of
 * a member on. So no other baseline is needed, and what a restart costs is not counted.
 */

/** Whose counts they are. Of other processes, or for other limits, nothing is compared. */
export type CountersOf = Pick<ClusterCounters, 'processes' | 'members' | 'above'>;

/** The members that there are: how many, their processes, and what they were given. */
type Processes = Pick<ClusterCounters, 'members' | 'processes' | 'given'>;

export interface Counted {
  /** Absent: the fleet is not seen by this invocation, and what the status has stays. */
  readonly above?: HaltAbove;
  /** Absent: nothing was read in this step. */
  readonly read?: Processes & { readonly sum: MemberCounters };
}

/** The time that limits are about, in milliseconds. */
export const windowMs = 600_000;

/** Between samples, in milliseconds: `mostSamples` of them are more than the window. */
const betweenMs = 60_000;

/** Of so few slow ones nothing follows, however few there were in all. */
const fewSlow = 5;

export function processesOf(slots: readonly Slot[]): Processes {
  const members = slots.filter(({ peer }) => peer?.current);
  const starts = members.map(({ name, pod }) => `${name} ${pod?.container.startedAt?.toISOString()}`);
  const given = new Set(members.flatMap(({ peer }) => (peer ? [inputsHash(peer.inputs)] : [])));
  return {
    members: members.length,
    processes: hashOf(starts.toSorted()).slice(0, 16),
    given: hashOf([...given].toSorted()).slice(0, 16),
  };
}

export function isSampleDue({ status }: EtcdCluster, of: CountersOf, at: Date): boolean {
  const before = status?.counters;
  const last = before?.samples.at(-1);
  return !last || !isOf(before, of) || at.getTime() - Date.parse(last.at) >= betweenMs;
}

/** Whether that was counted by these processes, for these limits. */
export function isOf(counters: ClusterCounters | undefined, { processes, members, above }: CountersOf): boolean {
  return isDeepStrictEqual(
    { processes: counters?.processes, members: counters?.members, above: counters?.above },
    { processes, members, above },
  );
}

export function slowAbove({ walFsyncP99, backendCommitP99 }: HaltAbove): SlowAbove {
  return {
    ...(walFsyncP99 !== undefined && { fsyncMs: parseDuration(walFsyncP99) }),
    ...(backendCommitP99 !== undefined && { commitMs: parseDuration(backendCommitP99) }),
  };
}

/**
 * What the status keeps after this look. The counting begins anew with a member that started and after a gap; what was
 * beyond a limit stays known until members are given something else, as by a revert, or the limits are others.
 */
export function countersAfter(
  { status }: EtcdCluster,
  counted: Counted | undefined,
  at: Date,
): ClusterCounters | undefined {
  const before = status?.counters;
  if (counted === undefined) return undefined;
  const { above, read } = counted;
  if (!above) return before;
  const ofLimits = isDeepStrictEqual(before?.above, above) ? before : undefined;
  if (!read) return ofLimits;
  const { sum, ...of } = read;
  const earlier = goesOn(ofLimits, { ...of, above, sum, at }) ? (ofLimits?.samples ?? []) : [];
  const samples = recent([...earlier, { at: timestamp(at), ...sum }], at);
  const limit = beyond(samples, of.members, above);
  const known = ofLimits?.given === of.given ? ofLimits.exceeded : undefined;
  const exceeded = limit === undefined ? known : { at: timestamp(at), limit };
  return { ...of, above, samples, ...(exceeded && { exceeded }) };
}

type Sample = ClusterCounters['samples'][number];

function goesOn(
  before: ClusterCounters | undefined,
  { sum, at, ...of }: CountersOf & { readonly sum: MemberCounters; readonly at: Date },
): boolean {
  const last = before?.samples.at(-1);
  if (!last || !isOf(before, of)) return false;
  const isLate = at.getTime() - Date.parse(last.at) >= windowMs;
  const wentBack = Object.entries(sum).some(([name, count]) => count < last[name as keyof MemberCounters]);
  return !isLate && !wentBack;
}

/** The oldest is the last one that is not younger than the window, so that what is compared spans it. */
function recent(samples: readonly Sample[], at: Date): readonly Sample[] {
  const first = samples.findLastIndex((one) => at.getTime() - Date.parse(one.at) >= windowMs);
  return samples.slice(Math.max(0, first)).slice(-mostSamples);
}

/** The limit that the counts since the first sample are beyond; where they span more than the window, in proportion. */
function beyond(samples: readonly Sample[], members: number, above: HaltAbove): keyof HaltAbove | undefined {
  const [first, last] = [samples.at(0), samples.at(-1)];
  if (!first || !last) return undefined;
  const spanned = Math.max(1, (Date.parse(last.at) - Date.parse(first.at)) / windowMs);
  const more = (of: keyof MemberCounters) => last[of] - first[of];
  const { leaderChanges, failedProposals } = above;
  // Each member counts the same change.
  if (leaderChanges !== undefined && Math.floor(more('leaderChanges') / members / spanned) > leaderChanges)
    return 'leaderChanges';
  if (failedProposals !== undefined && more('failedProposals') / spanned > failedProposals) return 'failedProposals';
  if (isSlow(more('slowFsyncs'), more('fsyncs'))) return 'walFsyncP99';
  return isSlow(more('slowCommits'), more('commits')) ? 'backendCommitP99' : undefined;
}

function isSlow(slow: number, all: number): boolean {
  return slow >= fewSlow && slow > all / 100;
}

/** In words that stay the same while it lasts, the cluster first: they become a commit status. */
export function wordsFor(limit: string, above: HaltAbove, name: string): string {
  const { leaderChanges, failedProposals, walFsyncP99, backendCommitP99 } = above;
  switch (limit as keyof HaltAbove) {
    case 'leaderChanges':
      return `the leader of ${name} changed more than ${leaderChanges} times in ten minutes`;
    case 'failedProposals':
      return `more than ${failedProposals} proposals of ${name} failed in ten minutes`;
    case 'walFsyncP99':
      return `more than one in a hundred WAL fsyncs of ${name} took longer than ${walFsyncP99}`;
    case 'backendCommitP99':
      return `more than one in a hundred backend commits of ${name} took longer than ${backendCommitP99}`;
    default:
      return `${name} is beyond ${limit}`;
  }
}
