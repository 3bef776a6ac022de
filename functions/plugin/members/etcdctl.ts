import { spawn } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printable } from '../../../manifests/printable.ts';
import { type Asked, type ExitCode, Refusal } from '../command.ts';
import { clusterNamed } from '../objects.ts';
import { type ClientKeys, clientKeysOf, waysTo } from './ways.ts';

/** For etcdctl and its children. */
type Settings = Readonly<Record<string, string>>;

/**
 * Runs etcdctl of this machine with endpoints and certificates of the cluster; without arguments a shell in which
 * etcdctl has them. Keys are in files of this person alone, removed at the end, also when stopped; never printed.
 * @throws {Refusal} with how to get it, where there is no etcdctl
 */
export async function etcdctl(name: string, args: readonly string[], asked: Asked): Promise<ExitCode> {
  const cluster = await clusterNamed(name, asked);
  const keys = await clientKeysOf(cluster, asked);
  await using ways = await waysTo(cluster, asked);
  for (const one of ways.lost) asked.err(`${printable(one)}\n`);
  // Its directory is made with mode 0700.
  await using directory = await mkdtempDisposable(join(tmpdir(), 'kubectl-ratchet-'));
  const settings = {
    ETCDCTL_ENDPOINTS: ways.ways.map(({ url }) => url).join(','),
    ...(keys && (await keptIn(directory.path, keys))),
  };
  const isShell = args.length === 0;
  const program = isShell ? process.env.SHELL || '/bin/sh' : 'etcdctl';
  if (isShell)
    asked.err(`etcdctl leads to ${asked.namespace}/${name} in this shell; exit ends it and removes its keys\n`);
  // Awaited here: what it uses is given back at the end of this function.
  return await run(program, args, settings, asked);
}

async function keptIn(directory: string, { ca, cert, key }: ClientKeys): Promise<Settings> {
  const files = {
    ETCDCTL_CACERT: ['ca.crt', ca],
    ETCDCTL_CERT: ['tls.crt', cert],
    ETCDCTL_KEY: ['tls.key', key],
  } as const;
  const kept: Record<string, string> = {};
  for (const [variable, [file, pem]] of Object.entries(files)) {
    kept[variable] = join(directory, file);
    await writeFile(kept[variable], pem, { mode: 0o600, flag: 'wx' });
  }
  return kept;
}

const howToGet =
  'there is no etcdctl on PATH: install the package etcd-client of your system, or take it from the archive of the cluster’s version at https://github.com/etcd-io/etcd/releases';

/** Milliseconds after which a program that does not listen is killed, so that its keys go. */
const patience = 3_000;

/** 1 for every code of its own but 0: others mean something else here. */
async function run(program: string, args: readonly string[], settings: Settings, { stop }: Asked): Promise<ExitCode> {
  if (stop.aborted) throw new Refusal('stopped');
  return new Promise((resolve, reject) => {
    const own = Object.fromEntries(
      Object.entries(process.env).filter(([variable]) => !variable.startsWith('ETCDCTL_')),
    );
    const child = spawn(program, args, { stdio: 'inherit', env: { ...own, ...settings } });
    let late: NodeJS.Timeout | undefined;
    // As from a terminal that closes: a shell at its prompt ignores SIGTERM.
    const end = () => {
      child.kill('SIGHUP');
      late = setTimeout(() => child.kill('SIGKILL'), patience);
    };
    stop.addEventListener('abort', end, { once: true });
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Refusal(
          error.code === 'ENOENT' && program === 'etcdctl' ? howToGet : `${program} can't be started: ${error.message}`,
          { cause: error },
        ),
      ),
    );
    child.once('close', (code) => {
      stop.removeEventListener('abort', end);
      clearTimeout(late);
      resolve(code === 0 ? 0 : 1);
    });
  });
}
