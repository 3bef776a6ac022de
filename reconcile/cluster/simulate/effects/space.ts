import type { EndpointStatus } from '../../../etcd.ts';
import type { Defragmented } from '../../defragmented.ts';
import { leads } from '../../leadership.ts';
import { type Effect, type EffectsOf, oneByOne, onSlot, slotOf, wave } from '../effect.ts';
import { moveLeader } from './membership.ts';

/** What etcd keeps, and how much room it takes. */

/** How much it frees nobody can tell before. */
export const compact: EffectsOf<'compact'> = () => wave((observation) => ({ ...observation, hasHistory: false }));

export const defragmentMember: EffectsOf<'defragment-member'> = (
  { name, size, at, successor, bareAt },
  observation,
) => {
  const slot = slotOf(observation, name);
  const before = slot?.peer?.defragmented?.vain ?? 0;
  const gains = slot?.endpoint.kind === 'known' && Number(slot.endpoint.status.dbSizeInUse) < size;
  return oneByOne(
    successor && slot && leads(slot) ? moveLeader(successor.memberId) : undefined,
    note(name, { at: new Date(at), vain: before + 1 }),
    onStatus(name, (status) => ({ ...status, dbSize: status.dbSizeInUse })),
    gains || bareAt !== undefined
      ? note(name, {
          at: new Date(at),
          vain: gains ? 0 : before + 1,
          ...(bareAt !== undefined && { bareAt: BigInt(bareAt) }),
        })
      : undefined,
  );
};

function note(name: string, defragmented: Defragmented): Effect {
  return onSlot(name, (slot) => (slot.peer ? { ...slot, peer: { ...slot.peer, defragmented } } : slot));
}

/** Each member's status tells of every alarm; all that are raised are taken back. */
export const disarmAlarm: EffectsOf<'disarm-alarm'> = () => wave(withoutAlarm('NOSPACE'));

/** With that, nobody is asked for hashes any more. */
export const disarmCorrupt: EffectsOf<'disarm-corrupt'> = () =>
  wave((observation) => {
    const disarmed = withoutAlarm('CORRUPT')(observation);
    if (!disarmed.hashes) return disarmed;
    const { hashes: _, ...rest } = disarmed;
    return rest;
  });

function withoutAlarm(alarm: string): Effect {
  return onEveryStatus((status) => {
    const errors = status.errors.filter((error) => !error.includes(alarm));
    return errors.length === status.errors.length ? status : { ...status, errors };
  });
}

/** As if one step were enough; on a real cluster it may take several. */
export const advanceLog: EffectsOf<'advance-log'> = ({ index }) =>
  wave(
    onEveryStatus((status) => {
      const wanted = BigInt(index);
      if (status.raftAppliedIndex >= wanted) return status;
      const raftIndex = status.raftIndex > wanted ? status.raftIndex : wanted;
      return { ...status, raftIndex, raftAppliedIndex: raftIndex };
    }),
  );

function onStatus(name: string, change: (status: EndpointStatus) => EndpointStatus): Effect {
  return onSlot(name, (slot) => {
    if (slot.endpoint.kind === 'unknown') return slot;
    const status = change(slot.endpoint.status);
    return status === slot.endpoint.status ? slot : { ...slot, endpoint: { kind: 'known', status } };
  });
}

function onEveryStatus(change: (status: EndpointStatus) => EndpointStatus): Effect {
  return (observation) => observation.slots.reduce((seen, { name }) => onStatus(name, change)(seen), observation);
}
