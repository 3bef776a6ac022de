import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Which third of the long enumerations ring 1 takes: any whole number. Without it, tests take everything. */
export const partVariable = 'RATCHET_PART';

const parts = 3;

/** Whose turn it is; `undefined` where nothing is left out. @throws {Error} when the variable is no whole number */
export function turn(part = process.env[partVariable]): number | undefined {
  if (part === undefined) return undefined;
  if (!/^\d{1,9}$/.test(part)) throw new Error(`${partVariable} is a whole number, not ${JSON.stringify(part)}`);
  return Number(part);
}

/** Of a long enumeration, what this run takes: a third in ring 1, by turns; otherwise everything. */
export function partOf<T>(all: readonly T[], whose = turn()): readonly T[] {
  return whose === undefined ? all : all.filter((_, index) => index % parts === whose % parts);
}

/** How many commits led here. A checkout without Git's history is at the first. */
export async function commits(): Promise<number> {
  const git = promisify(execFile)('git', ['rev-list', '--count', 'HEAD'], { cwd: import.meta.dirname });
  return git.then(
    ({ stdout }) => Number(stdout),
    () => 0,
  );
}
