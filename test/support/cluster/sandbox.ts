import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { answerListenRequests } from './bridge.ts';
import { cgroupVariable, removeCgroups } from './sandbox/cgroups.ts';
import { type Rights, unsharePrefix } from './sandbox/unshare.ts';

/** Which script the sandbox was made for. */
const scriptVariable = 'RATCHET_SANDBOX_SCRIPT';
const sharedVariable = 'RATCHET_SHARED_DIRECTORY';
const init = resolve(import.meta.dirname, 'sandbox/init.sh');

/** Where an empty tmpfs hides nothing that a run could want. The first that exists and is free is used. */
const runDirectories = ['/dev/shm', '/mnt', '/media', '/srv'] as const;

/** There is no way out of a sandbox: the person's own proxy would only stand between the API server and itself. */
const noProxy = Object.fromEntries(
  ['http_proxy', 'https_proxy', 'all_proxy']
    .flatMap((name) => [name, name.toUpperCase()])
    .map((name) => [name, undefined]),
);

export interface Sandbox {
  /** A tmpfs of this run alone: whatever is written here is gone with the run. */
  readonly directory: string;
  /** A path that is the same inside and outside, for what people outside need. Made on demand, removed with the run. */
  readonly sharedDirectory: string;
}

/** The sandbox that this process is in, if it is in one. */
export function currentSandbox(): Sandbox | undefined {
  const directory = process.env.RATCHET_SANDBOX;
  const sharedDirectory = process.env[sharedVariable];
  return directory === undefined || sharedDirectory === undefined ? undefined : { directory, sharedDirectory };
}

/**
 * Makes the rest of this script run inside a private network, PID and mount namespace. Outside, it runs the script
 * again in there, and exits with its exit code; inside, it just returns. What needs the network must be done before.
 *
 * A script that runs inside another one's sandbox gets one of its own within that: addresses and ports are fixed, and a
 * test file that starts a control plane must not meet the next one's.
 *
 * @throws {SandboxError} when the kernel or a missing tool does not allow it, saying what is needed.
 */
export async function enterSandbox(environment: Record<string, string> = {}, rights: Rights = 'any'): Promise<Sandbox> {
  const script = process.argv[1] ?? '';
  const here = currentSandbox();
  if (here && process.env[scriptVariable] === script) return here;
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.exit(await runInSandbox(command, { ...environment, [scriptVariable]: script }, rights));
}

/**
 * Runs one command in a sandbox of its own and resolves with its exit code (128 + n if it died of signal n).
 *
 * The first SIGINT, SIGTERM or SIGHUP to us is passed on as SIGTERM; the second kills everything in there. If we are
 * killed ourselves, so is everything in there.
 */
export async function runInSandbox(
  command: readonly string[],
  environment: Record<string, string> = {},
  rights: Rights = 'any',
): Promise<number> {
  const name = `etcd-ratchet-${randomBytes(6).toString('hex')}`;
  const shared = join(tmpdir(), name);
  const cgroup = { [cgroupVariable]: rights === 'root' ? name : undefined };
  const directory = runDirectory([...command, process.cwd(), shared, ...Object.values(environment)]);
  const [program, ...flags] = await unsharePrefix(rights);
  const child = spawn(program, [...flags, '/bin/sh', init, directory, ...command], {
    env: {
      ...process.env,
      ...noProxy,
      [scriptVariable]: undefined,
      ...environment,
      ...cgroup,
      [sharedVariable]: shared,
    },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'],
    // Its own session, so that a Ctrl-C reaches it once, through us, and not each of its processes at random.
    detached: true,
  });
  answerListenRequests(child);
  try {
    return await untilExit(child);
  } finally {
    // The sandbox removes it too, for when we are not there any more; this is for when it was killed first.
    await rm(shared, { recursive: true, force: true });
    if (rights === 'root') await removeCgroups(name);
  }
}

async function untilExit(child: ChildProcess): Promise<number> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const lifeline = child.stdio[4];
  if (!lifeline || !('write' in lifeline)) throw new Error('the sandbox was started without its lifeline');
  // The other end closes when the sandbox ends; a signal written just then has nobody to reach.
  lifeline.on('error', () => {});

  let asked = false;
  const stop = () => {
    if (asked) child.kill('SIGKILL');
    else lifeline.write('TERM\n');
    asked = true;
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
  } finally {
    for (const signal of signals) process.off(signal, stop);
    lifeline.end();
  }
}

function runDirectory(needed: readonly string[]): string {
  const text = needed.join('\n');
  const free = runDirectories.find((directory) => existsSync(directory) && !text.includes(`${directory}/`));
  if (free) return free;
  throw new Error(`every one of ${runDirectories.join(', ')} is missing or holds something that the run needs`);
}
