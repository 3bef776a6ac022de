import type { EndpointStatus } from '../../interfaces/etcd.ts';
import type { Alarm } from '../../interfaces/etcd-admin.ts';
import { refusedByEtcd } from '../../requests/refusals.ts';
import type { SpaceHost } from '../act/requests/host.ts';
import type { Observation, Slot } from '../know/observation.ts';
import { isOutOfSpace, newestOf } from '../know/space/databases.ts';

/** What etcd keeps, and how much room it takes, as members that were observed would go on to say it. */
export const observedSpace: SpaceHost<Observation> = {
  sizes: ({ slots }) =>
    statusesOf(slots).map(({ memberId, clusterId, dbSize }) => ({ memberId, clusterId, size: Number(dbSize) })),
  // Each member's status tells of every alarm.
  alarms: ({ slots }) => {
    const told = statusesOf(slots).flatMap(({ errors }) => errors.flatMap((error) => alarmIn(error) ?? []));
    return told.filter((one, index) => told.findIndex((other) => isSame(one, other)) === index);
  },
  disarm: (state, alarm) => {
    const disarmed = onStatuses(state, (status) => {
      const errors = status.errors.filter((error) => !isSame(alarm, alarmIn(error)));
      return errors.length === status.errors.length ? status : { ...status, errors };
    });
    return alarm.alarm === 'CORRUPT' ? withoutHashes(disarmed) : withoutHistory(disarmed);
  },
  // How much it frees cannot be known before.
  compact: (state, revision) => {
    const newest = newestOf(statusesOf(state.slots));
    if (BigInt(revision) > newest) throw refusedByEtcd('FutureRevision', `etcd is at revision ${newest}`);
    return BigInt(revision) < newest || !isOutOfSpace(state.slots) ? state : { ...state, hasHistory: false };
  },
  defragment: (state, memberId) => {
    const content = contentIn(state);
    return onStatuses(state, (status) => {
      if (status.memberId !== memberId) return status;
      const dbSize = content < status.dbSizeInUse ? content : status.dbSizeInUse;
      return { ...status, dbSize, dbSizeInUse: dbSize };
    });
  },
};

/** The same for all at the newest revision, and not all count yet what a compaction freed. */
function contentIn({ slots }: Observation): bigint {
  const statuses = statusesOf(slots);
  const newest = newestOf(statuses);
  const [first = 0n, ...others] = statuses.flatMap((one) => (one.revision === newest ? [one.dbSizeInUse] : []));
  return others.reduce((least, used) => (used < least ? used : least), first);
}

/** As if one step were enough; on a real cluster it may take several. */
export function advanced(state: Observation, index: bigint): Observation {
  return onStatuses(state, (status) => {
    if (status.raftAppliedIndex >= index) return status;
    const raftIndex = status.raftIndex > index ? status.raftIndex : index;
    return { ...status, raftIndex, raftAppliedIndex: raftIndex };
  });
}

function statusesOf(slots: readonly Slot[]): readonly EndpointStatus[] {
  return slots.flatMap(({ endpoint }) => (endpoint.kind === 'known' ? [endpoint.status] : []));
}

/** Like `memberID:160 alarm:NOSPACE `; where it blames no member, the ID is 0. */
function alarmIn(error: string): Alarm | undefined {
  const alarm = (['NOSPACE', 'CORRUPT'] as const).find((kind) => error.includes(kind));
  const [, id = '0'] = /memberID:(\d+)/.exec(error) ?? [];
  return alarm && { memberId: BigInt(id).toString(16), alarm };
}

function isSame(one: Alarm, other: Alarm | undefined): boolean {
  return one.memberId === other?.memberId && one.alarm === other.alarm;
}

/** Members are asked for hashes only while etcd calls one of them corrupt. */
function withoutHashes(state: Observation): Observation {
  if (!state.hashes || observedSpace.alarms(state).some(({ alarm }) => alarm === 'CORRUPT')) return state;
  const { hashes: _, ...rest } = state;
  return rest;
}

/** Members are asked for it only while etcd is out of space. */
function withoutHistory(state: Observation): Observation {
  if (state.hasHistory === undefined || isOutOfSpace(state.slots)) return state;
  const { hasHistory: _, ...rest } = state;
  return rest;
}

function onStatuses(state: Observation, change: (status: EndpointStatus) => EndpointStatus): Observation {
  let isChanged = false;
  const slots = state.slots.map((slot): Slot => {
    if (slot.endpoint.kind === 'unknown') return slot;
    const status = change(slot.endpoint.status);
    if (status === slot.endpoint.status) return slot;
    isChanged = true;
    return { ...slot, endpoint: { kind: 'known', status } };
  });
  return isChanged ? { ...state, slots } : state;
}
