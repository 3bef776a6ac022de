import type { Room } from './options.ts';

/** What seconds are counted for. `start`: bundles, images, the sandbox. */
export type Metered = Room | 'start';

/**
 * What a run of ring 1 may take, in seconds of processors of the machine that test/run/yardstick.ts names: 1,500 in
 * all, so that it ends within 15 minutes on two cores of it. Binaries are there. A new test makes room by what it
 * replaces, or goes to ring 2.
 */
export const shares = [
  { name: 'unit tests and search', rooms: ['unit', 'explore'], seconds: 450 },
  { name: 'integration', rooms: ['integration'], seconds: 450 },
  { name: 'stories', rooms: ['e2e'], seconds: 500 },
  { name: 'start', rooms: ['start'], seconds: 100 },
] as const satisfies readonly Share[];

interface Share {
  readonly name: string;
  readonly rooms: readonly Metered[];
  readonly seconds: number;
}

/**
 * How many times as long work took here while these rooms ran, at the median, as on the machine that the shares are
 * said for. Of rooms that were too short to be measured, what the whole run says.
 */
export type Pace = (rooms: readonly Metered[]) => number;

/** Seconds of processors, by room. */
export type RoomSeconds = Readonly<Partial<Record<Metered, number>>>;

/** What one run takes more than another. */
const leeway = 1.2;

/**
 * One line for each share that was used, and the problem where it was exceeded.
 *
 * @param pace of the machine while those rooms ran; a faster one has room
 */
export function held(
  used: RoomSeconds,
  pace: Pace,
): readonly { readonly line: string; readonly isExceeded: boolean }[] {
  return shares.map(({ name, rooms, seconds }) => {
    const slower = Math.max(1, pace(rooms));
    const taken = rooms.reduce((sum: number, room) => sum + (used[room] ?? 0), 0);
    const isExceeded = taken / slower > seconds * leeway;
    const there =
      slower > 1 ? ` on a machine that is ${slower.toFixed(1)} times slower: ${(taken / slower).toFixed(0)} s` : '';
    const line = `${name.padEnd(22)} ${taken.toFixed(0).padStart(5)} s of processors${there}, share ${seconds} s`;
    return { line: isExceeded ? `${line}: exceeded by more than a fifth` : line, isExceeded };
  });
}
