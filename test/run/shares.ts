import type { Room } from './options.ts';

/**
 * What a run of ring 1 may take, in seconds of processors: 1,500 in all, so that it ends within 15 minutes on two
 * cores. Binaries are there. A new test makes room by what it replaces, or goes to ring 2.
 */
export const shares = [
  { name: 'unit tests and search', rooms: ['unit', 'explore'], seconds: 450 },
  { name: 'integration', rooms: ['integration'], seconds: 450 },
  { name: 'stories', rooms: ['e2e'], seconds: 500 },
  { name: 'start', rooms: ['start'], seconds: 100 },
] as const satisfies readonly Share[];

interface Share {
  readonly name: string;
  readonly rooms: readonly (Room | 'start')[];
  readonly seconds: number;
}

/** Seconds of processors, by room. `start`: bundles, images, the sandbox. */
export type RoomSeconds = Readonly<Partial<Record<Room | 'start', number>>>;

/** Machines and days differ by so much. */
const leeway = 1.2;

/** One line for each share that was used, and the problem where it was exceeded. */
export function held(used: RoomSeconds): readonly { readonly line: string; readonly isExceeded: boolean }[] {
  return shares.map(({ name, rooms, seconds }) => {
    const taken = rooms.reduce((sum: number, room) => sum + (used[room] ?? 0), 0);
    const isExceeded = taken > seconds * leeway;
    const line = `${name.padEnd(22)} ${taken.toFixed(0).padStart(5)} s of processors, share ${seconds} s`;
    return { line: isExceeded ? `${line}: exceeded by more than a fifth` : line, isExceeded };
  });
}
