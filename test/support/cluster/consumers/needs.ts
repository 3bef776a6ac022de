import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ProvisionError } from '../binaries/error.ts';

/** What Patroni runs of PostgreSQL. Debian has them in a directory for each major. */
const postgresqlPrograms = [
  'postgres',
  'initdb',
  'pg_ctl',
  'pg_basebackup',
  'pg_controldata',
  'pg_isready',
  'pg_rewind',
] as const;

/** Of a machine. */
export interface Machine {
  hasProgram(path: string): boolean;
  /** Where programs are looked for: what a variable names, a distribution's directories, and PATH. */
  readonly directories: readonly string[];
  /** Whether its `python3` can make an environment with pip in it. */
  readonly hasVenv: boolean;
}

/** @throws {ProvisionError} naming all that is missing, and what to install. @returns where PostgreSQL is */
export function needConsumers(machine: Machine = thisMachine()): { readonly postgresql: string } {
  const postgresql = machine.directories.find((directory) =>
    postgresqlPrograms.every((name) => machine.hasProgram(join(directory, name))),
  );
  const hasUnshare = machine.directories.some((directory) => machine.hasProgram(join(directory, 'unshare')));
  const missing = [
    ...(postgresql === undefined ? [{ what: `PostgreSQL (${postgresqlPrograms.join(', ')})`, at: 'postgresql' }] : []),
    ...(machine.hasVenv ? [] : [{ what: 'python3 with its modules venv and ensurepip', at: 'python3-venv' }]),
    ...(hasUnshare ? [] : [{ what: 'unshare', at: 'util-linux' }]),
  ];
  if (missing.length === 0 && postgresql !== undefined) return { postgresql };
  throw new ProvisionError(
    `these consumers need what this machine does not have: ${missing.map(({ what }) => what).join('; ')}`,
    `apt-get install ${missing.map(({ at }) => at).join(' ')}`,
  );
}

function thisMachine(): Machine {
  const { RATCHET_POSTGRESQL: named, PATH = '' } = process.env;
  const ofDebian = majorsIn('/usr/lib/postgresql').map((major) => `/usr/lib/postgresql/${major}/bin`);
  return {
    hasProgram: isExecutable,
    directories: [...(named ? [named] : []), ...ofDebian, ...PATH.split(delimiter)],
    hasVenv: canMakeVenv(),
  };
}

/** The newest first. */
function majorsIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted((a, b) => Number(b) - Number(a));
  } catch {
    return [];
  }
}

/** Debian has its parts in a package of their own. */
function canMakeVenv(): boolean {
  try {
    execFileSync('python3', ['-c', 'import venv, ensurepip'], { stdio: 'ignore', timeout: 30_000 });
    return true;
  } catch {
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
