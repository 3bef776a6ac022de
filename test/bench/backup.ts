import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { restorePaths } from '../../manifests/render/restore-paths.ts';
import { fill } from '../integration/backup/members.ts';
import { newMember, restoreData, saveSnapshot, serveOnce } from './backup-by-hand.ts';
import { printBackup, type StoreFigures } from './backup-print.ts';
import { type BackupStage, onBackupStage, valueBytes, version } from './backup-stage.ts';
import { type BenchStore, benchStores, type StoreKind } from './backup-stores.ts';
import type { StoreName } from './options.ts';

export interface BackupOptions {
  readonly quick: boolean;
  readonly once: boolean;
  readonly stores: readonly StoreName[];
}

interface Bench extends BackupStage {
  readonly keys: number;
  readonly times: number;
}

/**
 * Prints how long backups and restores take by the agent and by hand, by turns, and how much memory the agent takes.
 * Needs no cluster.
 */
export async function measureBackup({ quick, once, stores: names }: BackupOptions): Promise<void> {
  const times = quick || once ? 1 : 3;
  const figures: StoreFigures[] = [];
  const kinds = names.map((name) => benchStores[name]);
  const stores = Map.groupBy(kinds, (kind) => mebibytesFor(kind, quick));
  for (const alike of stores.values()) figures.push(...(await measureStores(alike, { quick, times })));
  printBackup({ version, valueBytes, times, directory: tmpdir(), figures });
}

/** Of a store that is quadratic, as much as still says something of the agent. */
function mebibytesFor({ isQuadratic }: StoreKind, quick: boolean): number {
  if (quick) return 64;
  return isQuadratic ? 256 : 1024;
}

/** Of one size. */
async function measureStores(
  stores: readonly StoreKind[],
  { quick, times }: { readonly quick: boolean; readonly times: number },
): Promise<readonly StoreFigures[]> {
  const [first] = stores;
  if (!first) return [];
  const keys = (mebibytesFor(first, quick) * 1024 ** 2) / valueBytes;
  const figures: StoreFigures[] = [];
  await onBackupStage(async ({ directory, source, programs, agent }) => {
    await fill(source, keys, valueBytes);
    for (const kind of stores) {
      const own = await mkdtemp(join(directory, 'store-'));
      const measured = await measureStore({ directory: own, source, programs, keys, times, agent }, kind);
      console.error(`measured: ${measured.name}`);
      figures.push(measured);
      await rm(own, { recursive: true });
    }
  });
  return figures;
}

async function measureStore(bench: Bench, { open, isQuadratic }: StoreKind): Promise<StoreFigures> {
  await using store = await open(bench.directory);
  const halfMs = isQuadratic ? await uploadHalf(bench, store) : undefined;
  const backups = [];
  for (let n = 0; n < bench.times; n++) backups.push(await backUp(bench, store, n));
  const restores = [];
  for (let n = 0; n < bench.times; n++) restores.push(await restore(bench, store, n));
  const uploads = store.uploads.map(({ how }) => how);
  return { name: store.name, uploads, backups, restores, ...(halfMs !== undefined && { halfMs }) };
}

/** How long the store takes by itself for half as much: what it takes for the whole says how it grows. */
async function uploadHalf({ directory, programs, source }: Bench, { uploads: [upload] }: BenchStore): Promise<number> {
  const file = join(directory, 'half.db');
  await saveSnapshot(programs, source, file);
  await truncate(file, Math.floor((await stat(file)).size / 2));
  const ms = await timed(async () => upload?.put(file, 'half.db'));
  await rm(file);
  return ms;
}

async function backUp({ agent, directory, source, programs }: Bench, store: BenchStore, n: number) {
  const asked = { operation: 'backup', id: `bench-${n}`, object: `${store.prefix}agent-${n}.db` };
  const taken = await agent({ ...asked, store: store.settings, source: { endpoints: [source] } });
  const { record } = taken.result;
  if (record === undefined) throw new Error(`the agent made no record: ${taken.stdout}`);
  const file = join(directory, 'by-hand.db');
  const saveMs = await timed(() => saveSnapshot(programs, source, file));
  const uploadMs: number[] = [];
  for (const [index, { put }] of store.uploads.entries())
    uploadMs.push(await timed(() => put(file, `hand-${n}-${index}.db`)));
  await rm(file);
  return {
    bytes: record.bytes,
    agentMs: taken.wallMilliseconds,
    insideMs: record.tookMs,
    peakMegabytes: taken.peakMegabytes,
    saveMs,
    uploadMs,
  };
}

async function restore(bench: Bench, store: BenchStore, n: number) {
  const name = `agent-${n}.db`;
  // By turns first: what one leaves to the disk must not always be the other's.
  if (n % 2 === 0) {
    const figures = await restoreByAgent(bench, store, name);
    return { ...figures, byHand: await restoreByHand(bench, store, name) };
  }
  const byHand = await restoreByHand(bench, store, name);
  return { ...(await restoreByAgent(bench, store, name)), byHand };
}

async function restoreByAgent({ agent, directory, programs, keys }: Bench, store: BenchStore, name: string) {
  const volume = await mkdtemp(join(directory, 'restored-'));
  const dataDirectory = join(volume, 'data');
  const member = newMember();
  const staged = { restorer: { id: 'bench', attempt: 1 }, dataDirectory };
  const paths = restorePaths(dataDirectory, 1);
  const source = { object: `${store.prefix}${name}`, store: store.settings };
  await settled();
  const fetched = await agent({ operation: 'stage', ...source, ...staged, version });
  const restoreMs = await timed(() => restoreData(programs, paths.snapshot, paths.data, member));
  const placed = await agent({ operation: 'place', ...staged });
  const startMs = await timed(() => serveOnce(programs, dataDirectory, member, keys));
  await rm(volume, { recursive: true });
  return {
    fetchMs: fetched.wallMilliseconds,
    restoreMs,
    placeMs: placed.wallMilliseconds,
    startMs,
    peakMegabytes: Math.max(fetched.peakMegabytes, placed.peakMegabytes),
  };
}

async function restoreByHand({ directory, programs, keys }: Bench, store: BenchStore, name: string) {
  const place = join(directory, 'restored-by-hand');
  await mkdir(place);
  const [file, data, member] = [join(place, 'snapshot.db'), join(place, 'data'), newMember()];
  await settled();
  const downloadMs = await timed(() => store.download(name, file));
  const checkMs = await timed(async () => {
    await promisify(execFile)('sha256sum', [file]);
  });
  const restoreMs = await timed(() => restoreData(programs, file, data, member));
  const startMs = await timed(() => serveOnce(programs, data, member, keys));
  await rm(place, { recursive: true });
  return { downloadMs, checkMs, restoreMs, startMs };
}

/** Waits until all that was written lies on the disk: what came before must not be part of a figure. */
async function settled(): Promise<void> {
  await promisify(execFile)('sync');
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
