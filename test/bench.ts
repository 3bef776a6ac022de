import { join } from 'node:path';
import { measureBackup } from './bench/backup.ts';
import { measureLargeBackup, sizeAsked } from './bench/backup-large.ts';
import { measureBirths } from './bench/birth.ts';
import { measureChecks } from './bench/checks.ts';
import { conditions, load } from './bench/conditions.ts';
import { measureEvents } from './bench/events.ts';
import { measureFullSize } from './bench/full-size.ts';
import { measureGit } from './bench/git.ts';
import { measureHostile } from './bench/hostile.ts';
import { measureLife } from './bench/life.ts';
import { measureReboots } from './bench/reboots.ts';
import { openStage } from './bench/stage.ts';
import { measureTicks } from './bench/ticks.ts';
import { measureTls } from './bench/tls.ts';
import { keepVolumesOnDisk, keepVolumesSparse } from './bench/volumes.ts';
import { measureWebhooks } from './bench/webhooks.ts';
import { binariesEnvironment, provisionBinaries } from './support/cluster/binaries.ts';
import { startLocalCluster } from './support/cluster/local-cluster.ts';
import { buildOwnImage } from './support/cluster/own-image.ts';
import { currentSandbox, enterSandbox } from './support/cluster/sandbox.ts';

/**
 * Figures, all measured in this run: `npm run bench`, and with `-- births`, `tls`, `life`, `git`, `events`, `reboots`,
 * `webhooks`, `hostile` or `backup` after it; with `--quick` fewer clusters, where there are several, and a small
 * database. With `-- backup --size 2GiB` one database of that size goes to each store, and is proven there; `--store
 * directory`, `gcs` or `s3` asks for one store only; `--full-size` asks only for restores to three members, of a
 * database of `--size`, and `--trace` prints every step, Job and pod of them; `--once` takes one run of each, not
 * three.
 */

const quick = process.argv.includes('--quick');
// These need no cluster.
if (process.argv.includes('webhooks')) {
  console.log(await conditions());
  await measureWebhooks();
  process.exit();
}
const backup = process.argv.includes('backup');
const mebibytes = sizeAsked(process.argv);
// The sandbox of what does need one runs this file again.
if (backup && !process.argv.includes('--full-size') && !currentSandbox()) {
  console.log(await conditions());
  if (mebibytes === undefined) await measureBackup({ quick, args: process.argv });
  else await measureLargeBackup(mebibytes, process.argv);
  if (mebibytes !== undefined || process.argv.includes('--store')) process.exit();
}
if (process.argv.includes('hostile')) {
  console.log(await conditions());
  await measureHostile({ quick });
  process.exit();
}
const binaries = await provisionBinaries();
const sandbox = await enterSandbox(binariesEnvironment(binaries));
const { directory } = sandbox;
// The pods' image is this checkout's bundle.
await buildOwnImage(sandbox);
await using cluster = await startLocalCluster({ binaries });
const volumes = backup ? await keepVolumesOnDisk(cluster, sandbox) : await keepVolumesSparse(cluster);
await using stage = await openStage(cluster, join(directory, 'clone'));

console.log(backup ? `${load()}\n` : await conditions());
const etcd = binaries.etcd['3.6.16'];
if (!etcd) throw new Error('there is no etcd 3.6.16 among the binaries');
if (backup) {
  const { etcdctl } = binaries;
  const programs = { etcd, etcdctl, etcdutl: binaries.etcdutl['3.6.16'] };
  const size = mebibytes ?? (quick ? 32 : 256);
  const traced = process.argv.includes('--trace');
  await measureFullSize(stage, {
    programs,
    volumes,
    mebibytes: size,
    times: quick || process.argv.includes('--once') ? 1 : 3,
    traced,
  });
} else if (process.argv.includes('tls')) {
  await measureTls(stage, { directory: join(directory, 'app'), quick });
} else if (process.argv.includes('life')) {
  await measureLife(stage, { directory: join(directory, 'app') });
} else if (process.argv.includes('reboots')) {
  await measureReboots(stage);
} else if (process.argv.includes('events')) {
  await measureEvents(stage);
} else if (process.argv.includes('git')) {
  await measureGit({ quick });
  await measureChecks(stage, { directory: join(directory, 'app'), clusters: quick ? 10 : 100 });
} else {
  await measureBirths(stage, { etcd, directory: join(volumes, 'by-hand'), times: quick ? 1 : 3 });
  if (!process.argv.includes('births'))
    await measureTicks(stage, { directory: join(directory, 'app'), sizes: quick ? [1] : [1, 10, 100] });
}
