import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { quote } from './command.ts';
import { type RootPlan, rootScript } from './mounts.ts';

export type ContainerPlan = RootPlan & {
  readonly command: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly logFile: string;
  /** Holds the pod's namespaces. */
  readonly sandboxPid: number;
};

export type Exit = { readonly code: number; readonly message?: string; readonly started: boolean };

export type ContainerProcess = {
  /** The container's first process, as this process numbers it. */
  readonly pid: number;
  readonly exited: Promise<Exit>;
  signal(name: NodeJS.Signals): void;
};

/** The program was never started: what `kubectl describe` shows as the reason. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/**
 * Starts one container: own mounts and process ids, the pod's network and host name. Resolves when its program is about
 * to run.
 *
 * Two shells: the outer one lives in our process namespace and only waits, because its exit code is the container's
 * (128 + n after signal n, as a runtime reports it); the inner one is process 1 of the new namespace and becomes the
 * program, so that killing it kills all that it started.
 *
 * @throws StartError when the root can't be assembled or the program is not in it.
 */
export async function startContainer(plan: ContainerPlan): Promise<ContainerProcess> {
  const { script, tables } = rootScript(plan);
  for (const [path, text] of tables) await writeFile(path, text);
  const log = openSync(plan.logFile, 'a');
  const child = spawn('nsenter', outerCommand(plan, script), { stdio: ['ignore', log, log, 'pipe', 'pipe'], cwd: '/' });
  closeSync(log);
  const exited = untilExit(child);
  const report = await firstReport(child);
  if (report.kind === 'failed') {
    await exited;
    throw new StartError(report.message);
  }
  const { pid } = report;
  return { pid, exited, signal: (name) => signalIfAlive(pid, name) };
}

/** The program and its arguments, run in the namespaces and root of a running container. */
export function inContainer(pid: number, command: readonly string[]): string[] {
  const flags = ['--mount', '--uts', '--ipc', '--net', '--pid', '--root', '--wd'];
  return ['nsenter', `--target=${pid}`, ...flags, '--', ...command];
}

function outerCommand(plan: ContainerPlan, assembleRoot: string): string[] {
  const outer = `
    ( ${innerScript(plan, assembleRoot)} ) 3>&3 &
    exec 3>&- 4>&- >/dev/null 2>&1
    wait $!`;
  return [`--target=${plan.sandboxPid}`, '--net', '--uts', '--ipc', 'unshare', '--mount', '--pid', 'sh', '-c', outer];
}

function innerScript(plan: ContainerPlan, assembleRoot: string): string {
  const env = [...plan.env].map(([name, value]) => quote(`${name}=${value}`));
  const [program = '', ...args] = plan.command;
  return `set -eu
    exec 5>&2 2>&4
    read -r pid rest < /proc/self/stat
    ${assembleRoot}
    program=${quote(program)}
    ${plan.image.kind === 'pause' ? '' : findProgram(plan)}
    echo "pid $pid" >&3
    exec 2>&5 3>&- 4>&- 5>&-
    ${
      plan.image.kind === 'pause'
        ? 'exec sleep infinity'
        : `exec env -i ${env.join(' ')} unshare --root=${quote(plan.root)} --wd=${quote(plan.workingDir)} -- "$program" ${args.map(quote).join(' ')}`
    }`;
}

/** A program that is missing is the runtime's error, not an exit code of the container's. */
function findProgram({ command: [program = ''], env, root }: ContainerPlan): string {
  const missing = `{ echo "exec: \\"$program\\": executable file not found in \\$PATH" >&4; exit 128; }`;
  if (program.includes('/')) return `[ -e ${quote(root + program)} ] || ${missing}`;
  const directories = (env.get('PATH') ?? '').split(':').filter((directory) => directory.startsWith('/'));
  const tests = directories.map((directory) => `[ -x ${quote(`${root}${directory}/${program}`)} ]`);
  return tests.length > 0 ? `${tests.join(' || ')} || ${missing}` : missing;
}

type Report = { kind: 'started'; pid: number } | { kind: 'failed'; message: string };

function firstReport(child: ChildProcess): Promise<Report> {
  return new Promise((resolve, reject) => {
    let trouble = '';
    collect(child, 4, (text) => {
      trouble += text;
    });
    collect(child, 3, (text) => {
      const pid = /^pid (\d+)/m.exec(text)?.[1];
      if (pid !== undefined) resolve({ kind: 'started', pid: Number(pid) });
    });
    child.on('error', reject);
    child.on('close', () =>
      resolve({ kind: 'failed', message: trouble.trim() || 'the container could not be set up' }),
    );
  });
}

function collect(child: ChildProcess, fd: 3 | 4, onText: (text: string) => void): void {
  const stream = child.stdio[fd];
  if (stream && 'setEncoding' in stream) stream.setEncoding('utf8').on('data', onText);
}

function untilExit(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: 128, message: error.message, started: false }));
    child.on('exit', (code, signal) => resolve({ code: code ?? (signal === 'SIGKILL' ? 137 : 143), started: true }));
  });
}

function signalIfAlive(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
