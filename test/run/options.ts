import { parseArgs } from 'node:util';

export const rooms = ['unit', 'explore', 'integration', 'e2e'] as const;
export type Room = (typeof rooms)[number];

export interface RunOptions {
  readonly rooms: readonly Room[];
  /** A scenario: a test file's name, or part of a test's. */
  readonly scenario: string | undefined;
  /** Only what depends on the minor of Kubernetes: per-minor.ts. */
  readonly perMinor: boolean;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws {UsageError} */
export function parseOptions(args: readonly string[]): RunOptions {
  const { values, positionals } = parse(args);
  const [scenario, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`one scenario at a time: ${positionals.join(', ')} are several`);
  const perMinor = values['per-minor'];
  if (values.only === undefined) return { rooms, scenario, perMinor };

  const only = rooms.find((room) => room === values.only);
  if (!only) throw new UsageError(`--only takes ${rooms.join(', ')}, not ${JSON.stringify(values.only)}`);
  return { rooms: [only], scenario, perMinor };
}

function parse(args: readonly string[]) {
  try {
    const options = { only: { type: 'string' }, 'per-minor': { type: 'boolean', default: false } } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}
usage: npm test | npm test -- --only unit|explore|integration|e2e | npm run e2e -- SCENARIO | npm test -- --per-minor`);
  }
}
