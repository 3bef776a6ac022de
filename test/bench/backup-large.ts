import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { put } from '../integration/backup/members.ts';
import { saveSnapshot } from './backup-by-hand.ts';
import { type BackupStage, onBackupStage, valueBytes, version } from './backup-stage.ts';
import { type BenchStore, benchStores } from './backup-stores.ts';
import { load } from './conditions.ts';
import type { StoreName } from './options.ts';
import { aim } from './table.ts';

/** Of each value, so that a sixteenth of the database goes where it is compressed. */
const randomPart = valueBytes / 16;
const mostMebibytes = 128;

/**
 * Prints how the agent backs up one large database to each store and proves it by a restore, line by line. Compressed
 * to fake-gcs-server, as that reads all that it has for each chunk: 2 GiB would take it an hour.
 *
 * @throws when a backup is not proven.
 */
export async function measureLargeBackup(mebibytes: number, names: readonly StoreName[]): Promise<void> {
  await onBackupStage(async ({ directory, source, programs, agent }) => {
    await fillSparse(source, (mebibytes * 1024 ** 2) / valueBytes);
    const file = join(directory, 'by-hand.db');
    const saved = performance.now();
    await saveSnapshot(programs, source, file);
    await rm(file);
    console.log(`## A database of ${mebibytes} MiB, etcd ${version}\n`);
    console.log(`The snapshot into a file by hand: ${seconds(performance.now() - saved)} s. ${load()}\n`);
    for (const { open, isQuadratic } of names.map((name) => benchStores[name])) {
      const own = await mkdtemp(join(directory, 'store-'));
      await using store = await open(own);
      const compression = isQuadratic ? 'zstd' : 'none';
      await backUpAndProve({ agent, directory: own, source, programs, compression }, store);
      await rm(own, { recursive: true });
    }
  });
}

async function fillSparse(source: string, keys: number): Promise<void> {
  for (let at = 0; at < keys; at += 8) {
    const some = Array.from({ length: Math.min(8, keys - at) }, (_, index) => at + index);
    const value = () => Buffer.concat([randomBytes(randomPart), Buffer.alloc(valueBytes - randomPart)]);
    await Promise.all(some.map((number) => put(source, `fill/${number}`, value())));
  }
}

interface Large extends BackupStage {
  readonly compression: 'none' | 'zstd';
}

async function backUpAndProve(large: Large, store: BenchStore): Promise<void> {
  const { agent, directory, source, programs, compression } = large;
  const common = { object: `${store.prefix}large.db`, store: store.settings };
  const asked = { ...common, operation: 'backup', id: 'large', compression };
  const taken = await agent({ ...asked, source: { endpoints: [source] } });
  const { record } = taken.result;
  if (record === undefined) throw new Error(`the agent made no record: ${taken.stdout}`);
  const [mebibytes, stored] = [record.snapshot.bytes / 1024 ** 2, record.bytes / 1024 ** 2];
  const rate = mebibytes / (taken.wallMilliseconds / 1000);
  const peak = (of: number) => aim(`${of.toFixed(0)} MiB of memory (aim ${mostMebibytes})`, of < mostMebibytes);
  console.log(
    `backup to ${store.name}: ${mebibytes.toFixed(0)} MiB (stored: ${stored.toFixed(0)}) in ${seconds(taken.wallMilliseconds)} s, ${rate.toFixed(0)} MiB/s, ${seconds(taken.cpuMilliseconds)} s of CPU, ${peak(taken.peakMegabytes)}`,
  );
  const { etcd, etcdutl } = programs;
  const scratch = { directory: join(directory, 'scratch'), etcd, etcdutl };
  const proven = await agent({ ...common, operation: 'verify', scratch });
  const { proof } = proven.result;
  if (proof === undefined || JSON.stringify(proof.hashKV) !== JSON.stringify(record.hashKV))
    throw new Error(`the backup is not proven: ${proven.stdout}`);
  console.log(
    `restored from ${store.name} and compared: revision ${proof.revision}, in ${seconds(proven.wallMilliseconds)} s, ${peak(proven.peakMegabytes)}`,
  );
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1);
}
