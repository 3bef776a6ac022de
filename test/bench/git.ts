import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { bundling } from '../../functions/build.ts';
import { createWorkshop } from '../../functions/read/work.ts';
import { gitEnvironment } from '../support/git/git.ts';
import { startGitServer } from '../support/git/server.ts';
import { load } from './conditions.ts';
import { fillRepository, specPath } from './git-repository.ts';
import type { WorkerOutput } from './git-worker.ts';
import { type Measured, measure, median } from './measure.ts';
import { countingReceived } from './received.ts';
import { clusterYaml } from './stage.ts';
import { aim, table } from './table.ts';

const run = promisify(execFile);

const times = 5;
const warmUps = 1;
const limits = { checkRequests: 1, ofSystemGit: 2, specsMs: 1_000 };

interface Ours extends Measured {
  readonly output: WorkerOutput;
}

/** Prints what asking, fetching and reading a repository costs, beside system git in the same run. Needs no cluster. */
export async function measureGit({ quick }: { readonly quick: boolean }): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-bench-'));
  await using server = await startGitServer();
  try {
    const layout = quick ? { files: 1_000, commits: 100, specs: 100 } : { files: 10_000, commits: 1_000, specs: 100 };
    const worker = await bundleWorker(directory);
    const mono = await server.createRepository('mono');
    await fillRepository(mono.directory, layout);
    const ours = (what: string, url: string) =>
      repeated(() => askOurs(worker, [what, url, 'clusters/prod'], directory));

    const check = await ours('check', mono.url);
    const first = await ours('fetch', mono.url);
    let clones = 0;
    const cloned = () => join(directory, `clone-${clones++}`);
    const bare = await repeated(() => system(['clone', '-q', '--bare', '--depth', '1', mono.url, cloned()]));
    const checkedOut = await repeated(() => system(['clone', '-q', '--depth', '1', mono.url, cloned()]));

    const push = () => mono.commit({ [specPath(0)]: clusterYaml('bench-0', 1 + 2 * (clones++ % 3)) }, { keep: true });
    const next = await repeated(() => askOurs(worker, ['fetch', mono.url, 'clusters/prod'], directory), push);
    const fetched = join(directory, 'clone-0');
    const nextBare = await repeated(
      () => system(['-C', fetched, 'fetch', '-q', '--depth', '1', 'origin', 'main']),
      push,
    );

    using received = await countingReceived(mono.url);
    const asks = (url: string) => askOurs(worker, ['fetch', url, 'clusters/prod'], directory);
    const bytes = {
      first: await received.during(asks),
      bare: await received.during((url) => system(['clone', '-q', '--bare', '--depth', '1', url, cloned()])),
      nextBare: 0,
      partial: 0,
    };
    await push();
    bytes.nextBare = await received.during((url) =>
      system(['-C', fetched, 'fetch', '-q', '--depth', '1', url, 'main']),
    );
    // In a process that lives, as the event server does and a pass over several requests.
    const keptWhole = await inOneProcess(mono.url, push);
    // As the large forges do.
    await mono.git('config', 'uploadpack.allowFilter', 'true');
    const partial = await repeated(() => asks(mono.url), push);
    bytes.partial = await received.during(asks);
    const keptPartial = await inOneProcess(mono.url, push);

    const many = await server.createRepository('specs');
    await fillRepository(many.directory, { files: 1_000, commits: 1, specs: 1_000 });
    const specs = await ours('fetch', many.url);
    const pipe = await repeated(() => system(['ls-remote', '-q', mono.url, 'refs/heads/main']));
    print({
      layout,
      check,
      pipe,
      first,
      bare,
      checkedOut,
      next,
      nextBare,
      partial,
      bytes,
      specs,
      kept: [keptWhole, keptPartial],
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** As the image's bundle is made, with its compile cache filled by the warm-up. */
async function bundleWorker(directory: string): Promise<string> {
  await build({ ...bundling, entryPoints: [join(import.meta.dirname, 'git-worker.ts')], outdir: directory });
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }\n');
  return join(directory, 'git-worker.js');
}

async function askOurs(worker: string, args: readonly string[], directory: string): Promise<Ours> {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(directory, '.compile-cache') };
  const measured = await measure(worker, args, env);
  return { ...measured, output: JSON.parse(measured.stdout) as WorkerOutput };
}

async function system(args: readonly string[]): Promise<{ readonly wallMilliseconds: number }> {
  const started = performance.now();
  await run('git', [...args], { env: gitEnvironment() });
  return { wallMilliseconds: performance.now() - started };
}

async function repeated<T>(once: () => Promise<T>, before?: () => Promise<unknown>): Promise<readonly T[]> {
  const runs: T[] = [];
  for (let n = 0; n < warmUps + times; n++) {
    await before?.();
    const one = await once();
    if (n >= warmUps) runs.push(one);
  }
  return runs;
}

interface Figures {
  readonly layout: { readonly files: number; readonly commits: number };
  readonly check: readonly Ours[];
  readonly first: readonly Ours[];
  readonly next: readonly Ours[];
  readonly specs: readonly Ours[];
  readonly pipe: readonly Wall[];
  readonly bare: readonly Wall[];
  readonly checkedOut: readonly Wall[];
  readonly nextBare: readonly Wall[];
  /** Where the server can leave files out. */
  readonly partial: readonly Ours[];
  /** That were received. */
  readonly kept: readonly [whole: Kept, partial: Kept];
  readonly bytes: Readonly<Record<'first' | 'bare' | 'nextBare' | 'partial', number>>;
}

interface Wall {
  readonly wallMilliseconds: number;
}

interface Kept {
  /** Until all specs are parsed and checked. */
  readonly ms: number;
  readonly bytes: number;
}

/** One more commit, for a thread that has read the repository before. */
async function inOneProcess(url: string, push: () => Promise<string>): Promise<Kept> {
  using received = await countingReceived(url);
  const work = createWorkshop();
  const path = 'clusters/prod';
  async function once(): Promise<Kept> {
    const sha = await push();
    const begun = { ms: 0 };
    const bytes = await received.during(async (counted) => {
      const source = { url: counted, ref: 'main', path };
      const fleet = { metadata: { name: 'bench', namespace: 'payments' }, spec: { git: source } };
      const started = performance.now();
      const task = { kind: 'read', source, fleet, revision: { ref: 'main', sha } } as const;
      const answer = await work(task, { signal: AbortSignal.timeout(60_000), onFile: () => undefined });
      begun.ms = performance.now() - started;
      if (answer.kind !== 'read' || answer.tree.specs.length !== 100)
        throw new Error(JSON.stringify(answer).slice(0, 300));
    });
    return { ms: begun.ms, bytes };
  }
  await once();
  const runs = await repeated(once);
  return {
    ms: median(
      runs.map(({ ms }) => ms),
      (ms) => ms,
    ),
    bytes: Math.max(...runs.map((one) => one.bytes)),
  };
}

function print(figures: Figures): void {
  const { layout, check, pipe, first, bare, checkedOut, next, nextBare, partial, bytes, specs } = figures;
  const wall = (runs: readonly Wall[]) => median(runs, (one) => one.wallMilliseconds).wallMilliseconds;
  const ours = (what: string, runs: readonly Ours[], beside: string) => {
    const part = (of: (output: WorkerOutput) => number | undefined) => {
      const known = runs.flatMap(({ output }) => of(output) ?? []);
      return known.length > 0 ? median(known, (ms) => ms).toFixed(0) : '';
    };
    const { peakMegabytes } = median(runs, (one) => one.peakMegabytes);
    return [
      what,
      String(runs[0]?.output.requests ?? ''),
      wall(runs).toFixed(0),
      part(({ resolveMs }) => resolveMs),
      part(({ fetchMs }) => fetchMs),
      part(({ objectsMs }) => objectsMs),
      part(({ readMs }) => readMs),
      part(({ diffMs }) => diffMs),
      peakMegabytes.toFixed(0),
      beside,
    ];
  };
  const { files, commits } = layout;
  console.log(`## Git, median of ${times} after ${warmUps} warm-up\n`);
  console.log(
    `A repository of ${files} files and ${commits} commits, behind system git's http-backend on this machine; a fleet's path with 100 specs.`,
  );
  console.log(
    'Objects: folders and files out of the pack; read: parsed and validated; diff: compared with what is live.',
  );
  console.log(
    'Wall: a process of its own, from spawn to exit, bundled as a tick is; the rest: inside of it. System git: its process.\n',
  );
  console.log(
    table([
      ['what', 'requests', 'wall ms', 'resolve', 'fetch', 'objects', 'read', 'diff', 'peak MiB', 'system git, ms'],
      ours('nothing has changed', check, `ls-remote ${wall(pipe).toFixed(0)}`),
      ours('first fetch', first, `clone --depth 1 ${wall(checkedOut).toFixed(0)}, --bare ${wall(bare).toFixed(0)}`),
      ours('fetch after one more commit', next, `fetch --depth 1 into a clone ${wall(nextBare).toFixed(0)}`),
      ours('the same, where files can be left out', partial, ''),
      ours('1,000 specs, one a file', specs, ''),
    ]),
  );
  const kib = (count: number) => `${(count / 1024).toFixed(0)} KiB`;
  console.log(
    `\nReceived: a fetch ${kib(bytes.first)}, where files can be left out ${kib(bytes.partial)}; system git: a bare shallow clone ${kib(bytes.bare)}, one more commit ${kib(bytes.nextBare)}.`,
  );
  const [whole, filtered] = figures.kept.map(({ ms, bytes: all }) => `${kib(all)}, ${ms.toFixed(0)} ms with 100 specs`);
  console.log(
    `One more commit for a thread that has read the repository before: ${whole}; where files can be left out ${filtered}.`,
  );
  const requests = Math.max(...check.map(({ output }) => output.requests));
  const times2 = wall(first) / wall(bare);
  const specsMs = median(
    specs.map(({ output }) => (output.readMs ?? 0) + (output.diffMs ?? 0)),
    (ms) => ms,
  );
  console.log(`\n${load()}\n`);
  console.log(
    aim(
      `a check that finds nothing new: ${requests} request (aim ${limits.checkRequests})`,
      requests <= limits.checkRequests,
    ),
  );
  console.log(
    aim(
      `first fetch: ${times2.toFixed(2)} times system git's bare shallow clone (aim ${limits.ofSystemGit})`,
      times2 <= limits.ofSystemGit,
    ),
  );
  console.log(
    aim(
      `1,000 specs parsed, validated and compared: ${specsMs.toFixed(0)} ms (aim ${limits.specsMs})`,
      specsMs <= limits.specsMs,
    ),
  );
}

if (import.meta.main) await measureGit({ quick: process.argv.includes('--quick') });
