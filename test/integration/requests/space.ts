import { livePeer } from '../../../reconcile/cluster/act/requests/objects.ts';
import {
  addEntries,
  askSizes,
  compactTo,
  defragment,
  disarm,
  listAlarms,
  noteDefragmented,
  requireSameData,
} from '../../../reconcile/cluster/act/requests/space.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { EndpointStatus } from '../../../reconcile/interfaces/etcd.ts';
import type { Alarm } from '../../../reconcile/interfaces/etcd-admin.ts';
import { type Contracts, type Difference, othersAct } from './contract.ts';
import {
  bereft,
  clusterIn,
  filling,
  idOf,
  name,
  onEachMinor,
  silent,
  statusesIn,
  steady,
  unknownMember,
  whenNotServed,
  wrongCluster,
} from './running.ts';
import { whenStale } from './stale.ts';

function newestIn(seen: Observation): bigint {
  return statusesIn(seen).reduce((newest, { revision }) => (revision > newest ? revision : newest), 1n);
}

const alarmOf = (seen: Observation, alarm: Alarm['alarm']): Alarm => ({ memberId: idOf(seen, 'leader'), alarm });

function compacted(seen: Observation, revision = newestIn(seen)) {
  return compactTo({ clusterId: clusterIn(seen), revision: String(revision) });
}

function same(seen: Observation, more: Partial<Parameters<typeof requireSameData>[0]> = {}) {
  const memberIds = statusesIn(seen).map(({ memberId }) => memberId);
  return requireSameData({ clusterId: clusterIn(seen), revision: String(newestIn(seen)), memberIds, ...more });
}

function appliedIn({ raftAppliedIndex }: EndpointStatus): bigint {
  return raftAppliedIndex;
}

/** So many more than the last of them has applied. */
function entries(seen: Observation, more: bigint, clusterId = clusterIn(seen)) {
  const index = statusesIn(seen)
    .map(appliedIn)
    .reduce((least, one) => (one < least ? one : least));
  return addEntries({ clusterId, index: String(index + more) });
}

function* noted(bareAt?: string) {
  const { readAt } = yield* livePeer(name);
  yield* othersAct();
  const mark = { at: '2026-01-02T03:04:05.000Z', vain: 2, ...(bareAt !== undefined && { bareAt }) };
  return yield* noteDefragmented({ readAt, mark });
}

const sizesMove: Difference = { because: 'etcd writes pages in its own time', not: ['answer.*.size'] };
const observedHashes: Difference = { because: 'a plan takes the hashes as they were observed', model: 'well' };

export const space = {
  askSizes: onEachMinor((version) => [
    { when: 'all answer', start: steady(version), asks: () => askSizes({}), differs: sizesMove },
    { when: 'no quorum answers', start: bereft(version), asks: () => askSizes({}), differs: sizesMove },
    { when: 'one does not answer', start: silent, asks: () => askSizes({}), refused: 'retryable EtcdUnreachable' },
    { when: 'none runs', asks: () => askSizes({}) },
  ]),
  listAlarms: onEachMinor((version) => [
    {
      when: 'none is raised',
      start: steady(version),
      asks: (seen) => listAlarms({ clusterId: clusterIn(seen) }),
    },
    {
      when: 'etcd is out of space',
      ...filling(version, ['NOSPACE']),
      asks: (seen) => listAlarms({ clusterId: clusterIn(seen) }),
    },
    {
      when: 'its data are corrupt',
      ...filling(version, ['CORRUPT']),
      asks: (seen) => listAlarms({ clusterId: clusterIn(seen) }),
    },
    ...whenNotServed(version, (clusterId) => listAlarms({ clusterId }), { changes: false }),
  ]),
  disarm: onEachMinor((version) => [
    {
      when: 'it is raised, and another one stays',
      ...filling(version, ['CORRUPT', 'NOSPACE']),
      asks: (seen) => disarm({ clusterId: clusterIn(seen), alarm: alarmOf(seen, 'CORRUPT') }),
      also: ({ hashes }) => hashes === undefined,
    },
    {
      when: 'it is the last one',
      ...filling(version, ['NOSPACE']),
      asks: (seen) => disarm({ clusterId: clusterIn(seen), alarm: alarmOf(seen, 'NOSPACE') }),
    },
    {
      when: 'it is not raised',
      ...filling(version, []),
      asks: (seen) => disarm({ clusterId: clusterIn(seen), alarm: alarmOf(seen, 'NOSPACE') }),
    },
    ...whenNotServed(version, (clusterId, seen) => disarm({ clusterId, alarm: alarmOf(seen, 'NOSPACE') }), {
      changes: true,
    }),
  ]),
  compactTo: onEachMinor((version) => [
    { when: 'there is something to forget', ...filling(version, ['NOSPACE']), asks: (seen) => compacted(seen) },
    {
      when: 'something is left to forget',
      ...filling(version, ['NOSPACE']),
      asks: (seen) => compacted(seen, newestIn(seen) - 1n),
    },
    {
      when: 'it is forgotten already',
      ...filling(version, ['NOSPACE']),
      asks: function* (seen) {
        yield* compacted(seen);
        return yield* compacted(seen);
      },
    },
    {
      when: 'it is of the future',
      ...filling(version, ['NOSPACE']),
      asks: (seen) => compacted(seen, newestIn(seen) + 1000n),
      refused: 'precondition FutureRevision',
    },
    ...whenNotServed(version, (clusterId) => compactTo({ clusterId, revision: '1' }), { changes: true }),
  ]),
  defragment: onEachMinor((version) => [
    {
      when: 'it has holes',
      ...filling(version, [], { count: 20, bytes: 100_000 }),
      asks: function* (seen) {
        yield* compacted(seen);
        return yield* defragment({ name, memberId: idOf(seen, 'leader') });
      },
      differs: { because: 'no plan knows how many pages a compaction frees', not: ['answer'] },
    },
    {
      when: 'another member lives there',
      start: steady(version),
      asks: () => defragment({ name, memberId: unknownMember }),
      refused: 'precondition AnotherMember',
    },
    {
      when: 'it does not answer',
      start: silent,
      asks: () => defragment({ name, memberId: 'a1' }),
      refused: 'retryable EtcdUnreachable',
    },
    { when: 'it does not run', asks: () => defragment({ name, memberId: 'a1' }), refused: 'precondition WorldMoved' },
  ]),
  noteDefragmented: [
    { when: 'the peer is as it was read', asks: () => noted() },
    { when: 'all its history was forgotten', asks: () => noted('9007199254740993') },
    {
      when: 'it was noted before',
      asks: function* () {
        yield* noted('12');
        return yield* noted();
      },
    },
    ...whenStale({ object: 'peer', name }, { asks: () => noted() }, 'precondition Conflict'),
  ],
  requireSameData: onEachMinor((version) => [
    { when: 'all hold the same', start: steady(version), asks: (seen) => same(seen) },
    { when: 'no quorum answers, and it is not needed', start: bereft(version), asks: (seen) => same(seen) },
    {
      when: 'one of them does not answer',
      start: steady(version),
      asks: (seen) => same(seen, { memberIds: [idOf(seen, 'leader'), unknownMember] }),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'another cluster answers',
      start: steady(version),
      asks: (seen) => same(seen, { clusterId: wrongCluster }),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'the revision is of the future',
      start: steady(version),
      asks: (seen) => same(seen, { revision: String(newestIn(seen) + 1000n) }),
      refused: 'precondition FutureRevision',
      differs: observedHashes,
    },
    {
      when: 'no member answers',
      start: silent,
      asks: (seen) => same(seen, { memberIds: [unknownMember] }),
      refused: 'precondition WorldMoved',
    },
  ]),
  addEntries: onEachMinor((version) => [
    {
      when: 'all are to apply more',
      start: steady(version),
      asks: (seen) => entries(seen, 40n),
      also: (left) =>
        statusesIn(left)
          .map(appliedIn)
          .every((index) => index >= 40n),
    },
    { when: 'all have applied it', start: steady(version), asks: (seen) => entries(seen, 0n) },
    {
      when: 'another cluster answers, and all have applied it',
      start: steady(version),
      asks: (seen) => entries(seen, 0n, wrongCluster),
    },
    {
      when: 'another cluster answers',
      start: steady(version),
      asks: (seen) => entries(seen, 1000n, wrongCluster),
      refused: 'precondition ClusterIdMismatch',
    },
    {
      when: 'no quorum answers',
      start: bereft(version),
      asks: (seen) => entries(seen, 40n),
      refused: 'retryable EtcdDidNotAnswer',
    },
    {
      when: 'no member answers',
      start: silent,
      asks: () => addEntries({ clusterId: 'c1', index: '40' }),
      refused: 'retryable EtcdUnreachable',
    },
    {
      when: 'no member runs',
      asks: () => addEntries({ clusterId: 'c1', index: '40' }),
      refused: 'retryable EtcdUnreachable',
    },
  ]),
} as const satisfies Readonly<Record<string, Contracts>>;
