import { parseArgs } from 'node:util';
import { type RoomName, rooms } from './propose.ts';

export interface Options {
  /** Part of a file's name, of what is missing, or of a killer's name; empty: all. */
  readonly only: string;
  readonly workers: number;
  readonly list: boolean;
  /** A room of propose.ts: its guards, found by a program, in place of the tables. */
  readonly propose?: RoomName;
  readonly help: boolean;
}

export const usage = `npm run mutants -- [options]

Takes one guard at a time out of a copy of the sources, and runs the tests and searches that are to notice. First these must pass without
a mutant. Ends with 1 if a mutant survives that has no explanation, or does not apply to the sources any more.

  --only <text>   only those with this in the file's name, in what is missing, or in a killer's name
  --workers <n>   copies at a time (2)
  --propose <r>   instead every guard of a room that no table takes out in the same way, found in its syntax: each if, each part
                  of && and ||, each side of ?:, each filter; or, of the room tables, every row. Rooms: adoption, rollback,
                  hand-over, sleep, schedules, retention, nodes or tables. What survives is dead code, or an accident
                  without a test
  --list          prints the mutants, and what is to notice them
  --help`;

/** @throws {TypeError} for what it does not know. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '' },
      workers: { type: 'string', default: '2' },
      list: { type: 'boolean', default: false },
      propose: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (!/^[1-9]\d?$/.test(values.workers)) throw new TypeError(`--workers is "${values.workers}"; it must be 1 to 99`);
  const { propose, ...others } = values;
  return { ...others, workers: Number(values.workers), ...(propose !== undefined && { propose: roomNamed(propose) }) };
}

function roomNamed(name: string): RoomName {
  if (Object.hasOwn(rooms, name)) return name as RoomName;
  throw new TypeError(`--propose is "${name}"; it must be one of ${Object.keys(rooms).join(', ')}`);
}
