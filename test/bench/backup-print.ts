import { load } from './conditions.ts';
import { median } from './measure.ts';
import { aim, table } from './table.ts';

export interface StoreFigures {
  readonly name: string;
  /** How the snapshot is uploaded by hand: one way or more. */
  readonly uploads: readonly string[];
  readonly backups: readonly BackupFigures[];
  readonly restores: readonly RestoreFigures[];
  /** Of half as much, uploaded by hand in the first way: where the store grows slower with what it has. */
  readonly halfMs?: number;
}

interface BackupFigures {
  readonly bytes: number;
  /** From spawn to exit. */
  readonly agentMs: number;
  /** From the agent's own start until the object was stored. */
  readonly insideMs: number;
  readonly peakMegabytes: number;
  readonly saveMs: number;
  /** By way of upload. */
  readonly uploadMs: readonly number[];
}

interface RestoreFigures {
  readonly fetchMs: number;
  readonly restoreMs: number;
  readonly placeMs: number;
  readonly startMs: number;
  readonly peakMegabytes: number;
  readonly byHand: {
    readonly downloadMs: number;
    /** `sha256sum` of the file, which the agent holds against the record. */
    readonly checkMs: number;
    readonly restoreMs: number;
    readonly startMs: number;
  };
}

interface Figures {
  readonly version: string;
  readonly valueBytes: number;
  readonly times: number;
  readonly directory: string;
  readonly figures: readonly StoreFigures[];
}

const limits = { ofByHand: 1.3, megabytes: 128 };

export function printBackup({ version, valueBytes, times, directory, figures }: Figures): void {
  const runs = times === 1 ? 'one run each' : `medians of ${times} runs each, the agent and by hand by turns`;
  console.log(`## Backups, ${runs}\n`);
  console.log(
    `etcd ${version}, keys of ${valueBytes / 1024} KiB that nothing compresses. All files lie in ${directory}.`,
  );
  console.log(
    'The agent: its bundle in a process of its own, from spawn to exit (inside: until the object was stored), with both checksums and hashKV.',
  );
  console.log('By hand: etcdctl snapshot save, then the upload, in a process that runs already.\n');
  const lines: string[] = [];
  console.log(table([backupHeads, ...figures.flatMap((store) => backupRows(store, lines))]));
  for (const line of figures.flatMap(growthOf)) console.log(`\n${line}`);
  console.log(`\n## Restores to the first member that serves, ${runs}\n`);
  console.log(
    'Serves: a linearizable read finds every key. Fetch and rename: the agent, from spawn to exit. Both with the same etcdutl and etcd.\n',
  );
  console.log(table([restoreHeads, ...figures.map((store) => restoreRow(store, lines))]));
  const peak = Math.max(...figures.flatMap(({ backups, restores }) => [...backups, ...restores].map(peakOf)));
  lines.push(
    aim(
      `the agent's memory at most, in all runs: ${peak.toFixed(0)} MiB (aim ${limits.megabytes})`,
      peak < limits.megabytes,
    ),
  );
  console.log(`\n${load()}\n\n${lines.join('\n')}`);
}

const backupHeads = [
  'store',
  'MiB',
  'agent ms',
  'inside',
  'MiB/s',
  'peak MiB',
  'by hand ms',
  'save',
  'upload',
  'MiB/s',
  'how',
];

/** That the store itself is what takes the time. */
function growthOf({ name, uploads: [how], backups, halfMs }: StoreFigures): string[] {
  if (halfMs === undefined) return [];
  const wholeMs = middle(backups.map((one) => one.uploadMs[0] ?? 0));
  return [
    `${name} by itself: half as much by hand, by ${how}, takes ${halfMs.toFixed(0)} ms, and all of it ${wholeMs.toFixed(0)} ms, ${(wholeMs / halfMs).toFixed(1)} times as long. More would measure that alone.`,
  ];
}

function backupRows({ name, uploads, backups }: StoreFigures, lines: string[]): string[][] {
  const agentMs = middle(backups.map((one) => one.agentMs));
  const perSecond = (of: (one: BackupFigures) => number) =>
    middle(backups.map((one) => mebibytes(one.bytes) / (of(one) / 1000))).toFixed(0);
  return uploads.map((how, index) => {
    const byHand = (one: BackupFigures) => one.saveMs + (one.uploadMs[index] ?? 0);
    const byHandMs = middle(backups.map(byHand));
    lines.push(compared(`backup to ${name}, beside ${how}`, agentMs, byHandMs));
    return [
      name,
      String(mebibytes(middle(backups.map((one) => one.bytes)))),
      agentMs.toFixed(0),
      middle(backups.map((one) => one.insideMs)).toFixed(0),
      perSecond((one) => one.agentMs),
      Math.max(...backups.map(peakOf)).toFixed(0),
      byHandMs.toFixed(0),
      middle(backups.map((one) => one.saveMs)).toFixed(0),
      middle(backups.map((one) => one.uploadMs[index] ?? 0)).toFixed(0),
      perSecond(byHand),
      how,
    ];
  });
}

const restoreHeads = [
  ...['store', 'agent ms', 'fetch', 'etcdutl', 'rename', 'start', 'peak MiB'],
  ...['by hand ms', 'download', '(sha256sum)', 'etcdutl', 'start'],
];

function restoreRow({ name, restores }: StoreFigures, lines: string[]): string[] {
  const ms = (of: (one: RestoreFigures) => number) => middle(restores.map(of));
  const whole = ms((one) => one.fetchMs + one.restoreMs + one.placeMs + one.startMs);
  const started = ms(({ byHand }) => byHand.restoreMs + byHand.startMs);
  const all = ms(({ byHand }) => byHand.downloadMs + byHand.restoreMs + byHand.startMs);
  const checked = all + ms(({ byHand }) => byHand.checkMs);
  lines.push(
    compared(`restore from ${name}, beside download, etcdutl and start`, whole, all),
    compared(`restore from ${name}, beside download, sha256sum, etcdutl and start`, whole, checked),
    compared(`restore from ${name}, beside etcdutl and start of a file that is there`, whole, started),
  );
  const columns = [
    whole,
    ms((one) => one.fetchMs),
    ms((one) => one.restoreMs),
    ms((one) => one.placeMs),
    ms((one) => one.startMs),
    Math.max(...restores.map(peakOf)),
    all,
    ms(({ byHand }) => byHand.downloadMs),
    ms(({ byHand }) => byHand.checkMs),
    ms(({ byHand }) => byHand.restoreMs),
    ms(({ byHand }) => byHand.startMs),
  ];
  return [name, ...columns.map((value) => value.toFixed(0))];
}

function compared(what: string, ours: number, byHand: number): string {
  const times = ours / byHand;
  return aim(`${what}: ${times.toFixed(2)} times by hand (aim ${limits.ofByHand})`, times <= limits.ofByHand);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}

function middle(values: readonly number[]): number {
  return median(values, (value) => value);
}

function peakOf({ peakMegabytes }: { readonly peakMegabytes: number }): number {
  return peakMegabytes;
}
