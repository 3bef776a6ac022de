import { EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import { complaintsIn } from './corruption.ts';
import type { Data } from './members.ts';
import { quorumIn, runningOf, votersOf } from './quorum.ts';
import type { Formation, Process, State } from './state.ts';

const pages = 8192;

/** What a status says of it. @throws {EtcdError} while its member answers nobody. */
export function sizesIn(state: State, { clusterId, memberId }: Data) {
  const formation = state.formations.get(clusterId);
  const { space } = formation ?? {};
  const file = space?.files.get(memberId);
  if ((file?.silentUntil ?? 0) > state.clock()) throw new EtcdError('status: no answer within 2 s', 'ambiguous');
  return {
    dbSize: BigInt(file?.size ?? 20480),
    dbSizeInUse: BigInt(file?.used ?? 16384),
    errors: [
      ...[...(space?.alarms ?? [])].map((id) => `memberID:${BigInt(`0x${id}`)} alarm:NOSPACE `),
      ...complaintsIn(formation),
    ],
  };
}

export function takesWrites({ space, corrupt }: Formation): boolean {
  return (space?.alarms.size ?? 0) === 0 && (corrupt?.size ?? 0) === 0;
}

/** The one that was asked writes on, and thereby counts what it freed. */
export function compactIn({ space }: Formation, asked: Process): void {
  if (!space) return;
  if (space.history === 0) throw new EtcdError('compacted', 'refused', undefined, undefined, 'Compacted');
  space.history = 0;
  const file = space.files.get(asked.data.memberId);
  if (file && !space.uncounted) file.used = space.live;
}

export function defragmentIn(state: State, process: Process, leader: string | undefined): void {
  const { clusterId, memberId } = process.data;
  const formation = state.formations.get(clusterId);
  const space = formation?.space;
  const file = space?.files.get(memberId);
  const voters = votersOf(state, clusterId);
  if (leader === memberId && quorumIn(state, clusterId).length > 1)
    state.violations.push(`I1: ${process.pod} is defragmented while it leads`);
  const running = runningOf(state, clusterId).filter(({ data }) => voters.has(data.memberId));
  if (running.length < voters.size)
    state.violations.push(`I1: ${process.pod} is defragmented while another one is down`);
  if (!space || !file) return;
  const silent = [...space.files].find(([id, { silentUntil = 0 }]) => id !== memberId && silentUntil > state.clock());
  if (silent) state.violations.push(`I1: ${process.pod} is defragmented while ${silent[0]} is at it`);
  space.asked.push(memberId);
  if (space.cramped.has(memberId)) throw new EtcdError('defragment: no space left on device', 'ambiguous');
  const content = space.live + space.history + pages;
  // Once it is worth a try: nothing else tells what they hold.
  if (file.size <= content && space.tried) state.violations.push(`${process.pod} is defragmented for nothing`);
  if (file.size <= content) space.tried = true;
  file.size = content;
  file.used = content - pages;
  if (!space.slow.has(memberId)) return;
  file.silentUntil = state.clock() + 60_000;
  throw new EtcdError('defragment: no answer within 10 s', 'ambiguous');
}

export function disarmIn(state: State, { space }: Formation, memberId: string): void {
  if (!space) return;
  const full = [...space.files.values()].find(({ size }) => size >= space.quota * 0.9);
  if (full) state.violations.push(`writes are let in while a database has ${full.size} of ${space.quota}`);
  space.alarms.delete(memberId);
}
