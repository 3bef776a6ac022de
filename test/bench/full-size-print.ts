import { load } from './conditions.ts';
import type { Sizes } from './full-size-by-hand.ts';
import { moments, type Restored } from './full-size-restored.ts';
import { median } from './measure.ts';
import { aim, table } from './table.ts';

export interface FullSizeFigures {
  readonly version: string;
  readonly keys: number;
  readonly valueBytes: number;
  readonly bytes: number;
  readonly times: number;
  readonly ours: readonly Restored[];
  readonly applied: readonly Sizes[];
  readonly grown: readonly Sizes[];
  readonly three: readonly Sizes[];
}

/** How many times as long as by hand. */
const limit = 1.3;

export function printFullSize({ version, keys, valueBytes, bytes, times, ...figures }: FullSizeFigures): void {
  const { ours, applied, grown, three } = figures;
  const runs = times === 1 ? 'one run each' : `medians of ${times}, by turns, the disk flushed before each`;
  console.log(`## From a snapshot to the first member and to three, seconds, ${runs}\n`);
  console.log(
    `etcd ${version} without TLS, ${keys} keys of ${valueBytes / 1024} KiB that nothing compresses: a snapshot of ${(bytes / 1024 ** 2).toFixed(0)} MiB. Snapshot, volumes and data by hand on one disk, with fsync.`,
  );
  console.log('First: one member serves every key to a linearizable read. Full size: three voters do.');
  console.log(
    "Ours, from kubectl apply and a Job of the CronJob: it includes each invocation (a pod of its own), the pods of the restore and of the members, probes, and both checksums. By hand with kubectl: the same pods and probes, by a script that loses no moment. By hand without Kubernetes: processes on this machine with etcd's defaults, by such a script.",
  );
  console.log(
    'In all: etcd adds no learner within 5 s after another member came, and one that gets a snapshot in its first moment serves no client for 7 s, until it repeats what it lost.\n',
  );
  const row = (what: string, sizes: readonly Sizes[]) => [what, seconds(sizes, 'first'), seconds(sizes, 'full')];
  console.log(
    table([
      ['', 'first', 'full size'],
      row('EtcdCluster applied with bootstrap.snapshot', ours),
      row(
        'by hand, with kubectl: the same objects, an init container with etcdutl, each further one a learner',
        applied,
      ),
      row('by hand: copy, etcdutl, start; then each further member as a learner, started, promoted', grown),
      row('by hand: copy and etcdutl for each of three, then all started', three),
    ]),
  );
  const middle = median(ours, ({ full }) => full).seen;
  console.log(`\nThe middle run: ${moments.map((moment) => `${moment} ${middle[moment].toFixed(1)}`).join(', ')}.\n`);
  console.log(compared('first member that serves, beside by hand', ours, grown, 'first'));
  console.log(compared('full size, beside by hand with learners', ours, grown, 'full'));
  console.log(compared('first member that serves, beside by hand with kubectl', ours, applied, 'first'));
  console.log(compared('full size, beside by hand with kubectl', ours, applied, 'full'));
  console.log(`${load()}\n`);
}

function compared(what: string, ours: readonly Sizes[], byHand: readonly Sizes[], size: keyof Sizes): string {
  const times = middleOf(ours, size) / middleOf(byHand, size);
  return aim(`${what}: ${times.toFixed(2)} times as long (aim ${limit})`, times <= limit);
}

function seconds(sizes: readonly Sizes[], size: keyof Sizes): string {
  return middleOf(sizes, size).toFixed(1);
}

function middleOf(sizes: readonly Sizes[], size: keyof Sizes): number {
  return median(sizes, (one) => one[size])[size];
}
