import { parseArgs } from 'node:util';
import { UsageError } from '../run/options.ts';

/** What `npm run bench -- NAME` measures; without a name `births` and then `ticks`. */
export const benches = {
  births: 'from a push to Ready members, beside the same pods by kubectl',
  ticks: 'invocations for 1, 10 and 100 clusters that have converged',
  fleet: 'invocations for 100 and 400 clusters, most of whose members are stand-ins',
  shards: 'twelve shards that tick without a pause, and whether two of them take a step at once',
  tls: 'TLS: births, rotations, and the gaps between writes',
  life: 'a cluster’s life: scaled, upgraded, healed, under writes',
  git: 'fetches and checks of a large repository',
  events: 'from an event to Ready',
  reboots: 'nodes that reboot one after the other, under writes',
  webhooks: 'deliveries that a receiver takes in a second',
  rollout: 'how many of a thousand simulated clusters a bad commit hurts before it halts',
  hostile: 'what others wait for, and the memory, beside a hostile fleet or tenant',
  backup: 'backups and restores, beside the same by hand',
} as const;

export type Bench = keyof typeof benches;

export const storeNames = ['directory', 's3', 'gcs'] as const;
export type StoreName = (typeof storeNames)[number];

export interface BenchOptions {
  readonly bench: Bench | undefined;
  readonly help: boolean;
  readonly quick: boolean;
  readonly once: boolean;
  readonly trace: boolean;
  readonly fullSize: boolean;
  /** `undefined` unless `--size` is given. */
  readonly mebibytes: number | undefined;
  /** All, unless some are asked for. */
  readonly stores: readonly StoreName[];
}

const flags = {
  help: { type: 'boolean', short: 'h' },
  quick: { type: 'boolean' },
  once: { type: 'boolean' },
  trace: { type: 'boolean' },
  'full-size': { type: 'boolean' },
  size: { type: 'string' },
  store: { type: 'string', multiple: true },
} as const;

const ofBackup = ['once', 'trace', 'full-size', 'size', 'store'] as const;

export const usage = `usage: npm run bench -- [NAME] [OPTIONS]

${Object.entries(benches)
  .map(([name, text]) => `  ${name.padEnd(10)}${text}`)
  .join('\n')}

  --quick            fewer clusters, where there are several, and a small database
  --help             this text

of backup:
  --once             one run of each, not three
  --store STORE      only ${storeNames.join(', ')}; may be there more than once
  --size SIZE        one database of that size, like 2GiB, to each store, and proven there
  --full-size        restores to three members instead, of a database of --size
  --trace            with --full-size: every step, Job and pod of them`;

/** @throws {UsageError} naming what it does not know, before anything has started. */
export function parseBenchOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parse(args);
  const [name, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`one bench at a time: ${positionals.join(', ')} are several`);
  if (name !== undefined && !isBench(name))
    throw new UsageError(`there is no bench ${JSON.stringify(name)}\n\n${usage}`);
  const foreign = ofBackup.find((flag) => values[flag] !== undefined && name !== 'backup');
  if (foreign) throw new UsageError(`--${foreign} is an option of backup`);
  const { help = false, quick = false, once = false, trace = false, size, store } = values;
  const mebibytes = size === undefined ? undefined : sizeAsked(size);
  const stores = store === undefined ? storeNames : store.map(storeAsked);
  return { bench: name, help, quick, once, trace, fullSize: values['full-size'] ?? false, mebibytes, stores };
}

function sizeAsked(size: string): number {
  const [, number, unit] = /^(\d{1,5})(MiB|GiB)$/.exec(size) ?? [];
  const mebibytes = Number(number) * (unit === 'GiB' ? 1024 : 1);
  if (mebibytes > 0) return mebibytes;
  throw new UsageError(`--size takes a size like 2GiB or 512MiB, not ${JSON.stringify(size)}`);
}

function storeAsked(asked: string): StoreName {
  const found = storeNames.find((name) => name === asked);
  if (found) return found;
  throw new UsageError(`--store takes ${storeNames.join(', ')}, not ${JSON.stringify(asked)}`);
}

function isBench(name: string): name is Bench {
  return Object.hasOwn(benches, name);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}
