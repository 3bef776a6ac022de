import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { bundling } from '../../functions/build.ts';
import { patienceMs } from '../../functions/pass/read-fleets.ts';
import { startGitServer } from '../support/git/server.ts';
import { load } from './conditions.ts';
import { hostileFiles, largeFile, largeRepository, startHostileServer } from './hostile-inputs.ts';
import type { HostileOutput } from './hostile-worker.ts';
import { median } from './measure.ts';
import { clusterYaml } from './stage.ts';
import { aim, table } from './table.ts';

const run = promisify(execFile);
const aims = { othersMs: 1_000, ticks: 1, megabytes: 256 };
const others = 3;

interface Row {
  readonly what: string;
  readonly output: HostileOutput;
}

/**
 * Prints, for each hostile input, until when three other fleets of the same pass are read, how much memory the process
 * takes at most, and how long its event loop stood still. Needs no cluster.
 */
export async function measureHostile({ quick }: { readonly quick: boolean }): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-bench-'));
  try {
    await using server = await startGitServer();
    using stranger = await startHostileServer();
    const worker = await bundle(directory);
    const good = await Promise.all(
      Array.from({ length: others }, async (_, n) => {
        const repository = await server.createRepository(`good-${n}`);
        await repository.commit({ 'a.yaml': clusterYaml('a', 3) });
        return repository.url;
      }),
    );
    const rows: Row[] = [];
    const tried = async (what: string, urls: readonly string[]) => {
      const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(directory, '.compile-cache') };
      const args = [worker, JSON.stringify(good), JSON.stringify(urls)];
      const { stdout } = await run(process.execPath, args, { env, timeout: 120_000 });
      rows.push({ what, output: JSON.parse(stdout) as HostileOutput });
    };
    // Fills the compile cache.
    await tried('', []);
    rows.pop();
    for (let n = 0; n < 3; n++) await tried('nothing', []);
    const calm = median(rows.splice(0), ({ output }) => output.othersMs);
    rows.push(calm);
    let count = 0;
    const inputs = { ...hostileFiles, [`one file of ${largeFile.mebibytes} MiB`]: largeFile.files() };
    for (const [what, files] of Object.entries(inputs)) {
      const repository = await server.createRepository(`hostile-${count++}`);
      await repository.git('config', 'uploadpack.allowFilter', 'true');
      await repository.commit(files);
      await tried(what, [repository.url]);
    }
    for (const [what, path] of [
      ['250 MiB of refs', 'refs'],
      ['250 MiB of progress', 'progress'],
      ['250 MiB of a pack that is none', 'pack'],
    ] as const)
      await tried(what, [`${stranger.url}/${path}/r.git`]);
    const large = (name: string, mebibytes: number, filter: boolean) =>
      largeRepository(server, name, { mebibytes, filter });
    const few = quick ? 24 : 144;
    await tried(`a monorepo of ${few} MiB`, [await large('mono', few, true)]);
    await tried('the same from a server that leaves nothing out', [await large('mono-whole', few, false)]);
    const fitting = quick ? 12 : 44;
    await tried(`one of ${fitting} MiB from such a server`, [await large('fitting', fitting, false)]);
    const three = await Promise.all(['x', 'y', 'z'].map((name) => large(name, quick ? 16 : 95, false)));
    await tried('three of 95 MiB from such a server', three);
    if (!quick) await tried('a monorepo of 2 GiB', [await large('huge', 2_048, true)]);
    print(rows);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** As the image's bundle is made: the thread's file stands beside the chunk that starts it. */
async function bundle(directory: string): Promise<string> {
  const entryPoints = [
    { in: join(import.meta.dirname, 'hostile-worker.ts'), out: 'chunks/hostile-worker' },
    { in: 'functions/read/worker.ts', out: 'chunks/read-worker' },
  ];
  await build({ ...bundling, entryPoints, outdir: directory });
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }\n');
  return join(directory, 'chunks/hostile-worker.js');
}

/** What a tick has read when its steps begin is stepped by it, and the rest by the next one. */
function ticksTo(readMs: number): number {
  return readMs <= patienceMs ? 1 : 2;
}

function print(rows: readonly Row[]): void {
  const base = rows[0]?.output.othersMs ?? 0;
  console.log(`## Hostile repositories beside ${others} others\n`);
  console.log(
    table([
      ['input', 'others read, ms', 'later, ms', 'ticks to their step', 'peak MiB', 'gap ms', 'its status'],
      ...rows.map(({ what, output: { othersMs, specs, gapMs, peakMegabytes, said } }) => [
        what,
        specs === others ? othersMs.toFixed(0) : 'NOT READ',
        (othersMs - base).toFixed(0),
        String(ticksTo(othersMs)),
        peakMegabytes.toFixed(0),
        gapMs.toFixed(0),
        (said[0] ?? '').replaceAll(/http:\S+/g, 'r.git').slice(0, 100),
      ]),
    ]),
  );
  console.log(`\n${load()}\n`);
  const latest = Math.max(...rows.map(({ output }) => output.othersMs - base));
  const peak = Math.max(...rows.map(({ output }) => output.peakMegabytes));
  const ticks = Math.max(...rows.map(({ output }) => ticksTo(output.othersMs)));
  const areServed = rows.every(({ output }) => output.specs === others);
  console.log(
    aim(
      `no input delays another fleet by more than ${aims.othersMs} ms: ${latest.toFixed(0)}`,
      latest <= aims.othersMs,
    ),
  );
  console.log(aim(`the others are stepped within ${aims.ticks} tick: ${ticks}`, ticks <= aims.ticks));
  console.log(aim(`the peak is at most ${aims.megabytes} MiB: ${peak.toFixed(0)}`, peak <= aims.megabytes));
  console.log(aim('all other fleets are read', areServed));
  // A bench in which no stranger's input was read has measured nothing.
  const refused = rows.flatMap(({ output }) => output.said).filter((said) => said.startsWith('HostRefused'));
  console.log(aim(`every input is reached: ${refused.length} hosts refused`, refused.length === 0));
}

if (import.meta.main) await measureHostile({ quick: process.argv.includes('--quick') });
