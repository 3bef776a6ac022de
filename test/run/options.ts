import { parseArgs } from 'node:util';

export const rooms = ['unit', 'explore', 'integration', 'e2e'] as const;
export type Room = (typeof rooms)[number];

/**
 * `ring1`: what every change waits for. `all`: everything. `slice`: one part of what ring 1 leaves out, by a count that
 * goes round. `perMinor`: what depends on the minor of Kubernetes (per-minor.ts). `gitServers`: what is about Git
 * (git-servers.ts). `realNode`: stories of real kubelets, or any other story on them. `consumers`: stories of programs
 * that come from the distribution and from PyPI.
 */
export type Extent =
  | 'ring1'
  | 'all'
  | 'perMinor'
  | 'gitServers'
  | 'realNode'
  | 'consumers'
  | { readonly slice: number };

export interface RunOptions {
  readonly rooms: readonly Room[];
  /** A scenario: a test file's name, or part of a test's. */
  readonly scenario: string | undefined;
  readonly extent: Extent;
  /** Also against every stand-in for a Git server (git-servers.ts), unless `RATCHET_GIT_SERVER` names one. */
  readonly everyGitServer?: true;
  /** Where to write the seconds of each room and file. */
  readonly json: string | undefined;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const usage = `usage: npm test                       what every change waits for: ring 1
       npm test -- --all              everything, and what is about Git against every server's stand-in
       npm test -- --slice N          one slice of what ring 1 leaves out; N goes round
       npm test -- --only unit|explore|integration|e2e [SCENARIO]
       npm run e2e -- SCENARIO        a test file, or part of a test's name
       npm run e2e -- --real-node [SCENARIO]   on real kubelets; as root, with containerd, runc and CNI plugins
       npm run e2e -- --consumers [SCENARIO]   Patroni and other clients; with PostgreSQL, Python and PyPI
       npm test -- --per-minor        what depends on the minor of Kubernetes
       npm test -- --git-servers      what is about Git, against every server's stand-in, or that of RATCHET_GIT_SERVER
       … --json FILE                  also writes the seconds of each room and file; keeps what FILE says of others`;

/** @throws {UsageError} */
export function parseOptions(args: readonly string[]): RunOptions {
  const { values, positionals } = parse(args);
  const [scenario, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`one scenario at a time: ${positionals.join(', ')} are several`);
  const only = values.only === undefined ? undefined : rooms.find((room) => room === values.only);
  if (values.only !== undefined && !only)
    throw new UsageError(`--only takes ${rooms.join(', ')}, not ${JSON.stringify(values.only)}`);
  for (const flag of ['real-node', 'consumers'] as const)
    if (values[flag] && only !== 'e2e') throw new UsageError(`--${flag} is for stories: npm run e2e -- --${flag}`);
  const extent = extentOf(values, only, scenario);
  const everyGitServer = (values.all || extent === 'gitServers') && { everyGitServer: true as const };
  return { rooms: only ? [only] : rooms, scenario, extent, ...everyGitServer, json: values.json };
}

interface Extents {
  readonly all: boolean;
  readonly 'per-minor': boolean;
  readonly 'git-servers': boolean;
  readonly 'real-node': boolean;
  readonly consumers: boolean;
  readonly slice?: string | undefined;
}

/** One room, and a scenario, are asked for as they are: whole. */
function extentOf(values: Extents, only: Room | undefined, scenario: string | undefined): Extent {
  const { all, 'per-minor': perMinor, 'git-servers': gitServers, 'real-node': realNode, consumers, slice } = values;
  if ([all, perMinor, gitServers, realNode, consumers, slice !== undefined].filter(Boolean).length > 1)
    throw new UsageError(
      `--all, --slice, --per-minor, --git-servers, --real-node and --consumers exclude each other\n${usage}`,
    );
  if (perMinor) return 'perMinor';
  if (gitServers) return 'gitServers';
  if (realNode) return 'realNode';
  if (consumers) return 'consumers';
  if (slice === undefined) return all || only || scenario !== undefined ? 'all' : 'ring1';
  if (!/^\d{1,9}$/.test(slice)) throw new UsageError(`--slice takes a whole number, not ${JSON.stringify(slice)}`);
  return { slice: Number(slice) };
}

function parse(args: readonly string[]) {
  try {
    const flag = { type: 'boolean', default: false } as const;
    const text = { type: 'string' } as const;
    const flags = { all: flag, 'per-minor': flag, 'git-servers': flag, 'real-node': flag, consumers: flag } as const;
    const options = { only: text, slice: text, json: text, ...flags } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n${usage}`);
  }
}
