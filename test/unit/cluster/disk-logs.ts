import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { logsToRead } from '../../../reconcile/cluster/know/recovery/disk-logs.ts';
import { lossOf } from '../../../reconcile/cluster/know/recovery/lost.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import type { DiskLog } from '../../../reconcile/jobs/disk-log.ts';
import { memberId } from './observations.ts';

/** As if a Job had read each disk that is asked for: what differs there, or why it can't be read. */
export function withLogs(
  observation: Observation,
  logs: Readonly<Record<string, Partial<DiskLog> | string>>,
): Observation {
  const loss = lossOf(situate(observation));
  const wanted = loss ? logsToRead(loss) : [];
  const slots = observation.slots.map((slot) => {
    const job = wanted.find(({ name }) => name === slot.name)?.job;
    if (job === undefined) return slot;
    const given = logs[slot.name] ?? {};
    if (typeof given === 'string') return { ...slot, log: { kind: 'unread', job, why: given } as const };
    const entry = { commit: 90n, consistentIndex: 90n, lastTerm: 2n, lastIndex: 90n };
    const log = { clusterId: 'c1c1', memberId: memberId(slot.ordinal), term: 2n, vote: 0n, ...entry, ...given };
    return { ...slot, log: { kind: 'read', job, log } as const };
  });
  return { ...observation, slots };
}
