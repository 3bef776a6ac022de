import { join } from 'node:path';
import { measureAtOnce } from './bench/at-once.ts';
import { measureBackup } from './bench/backup.ts';
import { measureLargeBackup } from './bench/backup-large.ts';
import { measureBirths } from './bench/birth.ts';
import { measureChecks } from './bench/checks.ts';
import { conditions, load } from './bench/conditions.ts';
import { measureEvents } from './bench/events.ts';
import { measureFleet } from './bench/fleet.ts';
import { measureFullSize } from './bench/full-size.ts';
import { measureGit } from './bench/git.ts';
import { measureHostile } from './bench/hostile.ts';
import { measureHostileTenants } from './bench/hostile-tenants.ts';
import { measureLife } from './bench/life.ts';
import { parseBenchOptions, storeNames, usage } from './bench/options.ts';
import { measureReboots } from './bench/reboots.ts';
import { measureRollouts } from './bench/rollout.ts';
import { openStage } from './bench/stage.ts';
import { measureTicks } from './bench/ticks.ts';
import { measureTls } from './bench/tls.ts';
import { keepVolumesOnDisk, keepVolumesSparse } from './bench/volumes.ts';
import { measureWebhooks } from './bench/webhooks.ts';
import { UsageError } from './run/options.ts';
import { binariesEnvironment, provisionBinaries } from './support/cluster/binaries.ts';
import { startLocalCluster } from './support/cluster/local-cluster.ts';
import { buildOwnImage } from './support/cluster/own-image.ts';
import { currentSandbox, enterSandbox } from './support/cluster/sandbox.ts';
import { tools } from './support/cluster/tools.ts';

/** Figures, all measured in this run. `--help` says which there are. */

const { bench, help, quick, once, trace, fullSize, mebibytes, stores } = optionsOrUsage();
if (help) {
  console.log(usage);
  process.exit();
}
// This needs no cluster.
if (bench === 'webhooks') {
  console.log(await conditions());
  await measureWebhooks();
  process.exit();
}
if (bench === 'rollout') {
  await measureRollouts({ quick });
  process.exit();
}
if (bench === 'hostile') {
  // The sandbox of what does need one runs this file again.
  if (!currentSandbox()) {
    console.log(await conditions());
    await measureHostile({ quick });
  }
  await measureHostileTenants({ quick });
  process.exit();
}
if (bench === 'backup' && !fullSize && !currentSandbox()) {
  console.log(await conditions());
  if (mebibytes === undefined) await measureBackup({ quick, once, stores });
  else await measureLargeBackup(mebibytes, stores);
  if (mebibytes !== undefined || stores !== storeNames) process.exit();
}
const binaries = await provisionBinaries();
const kwok = bench === 'fleet' || bench === 'shards' ? await tools.kwok.provide() : undefined;
const sandbox = await enterSandbox({ ...binariesEnvironment(binaries), ...(kwok && tools.kwok.environment(kwok)) });
const { directory } = sandbox;
// The pods' image is this checkout's bundle.
await buildOwnImage(sandbox);
await using cluster = await startLocalCluster({ binaries });
const volumes = bench === 'backup' ? await keepVolumesOnDisk(cluster, sandbox) : await keepVolumesSparse(cluster);
await using stage = await openStage(cluster, join(directory, 'clone'));

console.log(bench === 'backup' ? `${load()}\n` : await conditions());
const etcd = binaries.etcd['3.6.16'];
if (!etcd) throw new Error('there is no etcd 3.6.16 among the binaries');
if (bench === 'backup') {
  const { etcdctl } = binaries;
  const programs = { etcd, etcdctl, etcdutl: binaries.etcdutl['3.6.16'] };
  const size = mebibytes ?? (quick ? 32 : 256);
  await measureFullSize(stage, {
    programs,
    volumes,
    mebibytes: size,
    times: quick || once ? 1 : 3,
    traced: trace,
  });
} else if (bench === 'tls') {
  await measureTls(stage, { directory: join(directory, 'app'), quick });
} else if (bench === 'life') {
  await measureLife(stage, { directory: join(directory, 'app') });
} else if (kwok && bench === 'shards') {
  await measureAtOnce(stage, { directory: join(directory, 'app'), kwok, minutes: quick ? 1 : 10 });
} else if (kwok) {
  const sizes = quick ? { real: 6, all: [20], most: 200 } : { real: 10, all: [100, 400], most: 10_000 };
  await measureFleet(stage, { directory: join(directory, 'app'), kwok, sizes });
} else if (bench === 'reboots') {
  await measureReboots(stage);
} else if (bench === 'events') {
  await measureEvents(stage);
} else if (bench === 'git') {
  await measureGit({ quick });
  await measureChecks(stage, { directory: join(directory, 'app'), clusters: quick ? 10 : 100 });
} else {
  if (bench !== 'ticks')
    await measureBirths(stage, { etcd, directory: join(volumes, 'by-hand'), times: quick ? 1 : 3 });
  if (bench !== 'births')
    await measureTicks(stage, { directory: join(directory, 'app'), sizes: quick ? [1] : [1, 10, 100] });
}

function optionsOrUsage() {
  try {
    return parseBenchOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}
