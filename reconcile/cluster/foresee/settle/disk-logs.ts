import { type Effect, onSlot } from '../effect.ts';

/** A plan can't foresee what is on a disk. */
export const readDiskLogs: Effect = (observation) => {
  const reading = observation.slots.filter(({ log }) => log?.kind === 'reading');
  return reading.reduce(
    (before, { name, log }) =>
      onSlot(name, (slot) => ({ ...slot, log: { kind: 'unread', job: log?.job ?? '', why: 'a plan reads no disk' } }))(
        before,
      ),
    observation,
  );
};
