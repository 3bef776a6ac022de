import { appendFileSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A busy machine makes a run longer, not its work: seconds of processors are what two runs are compared by. Linux
 * counts them in hundredths, of a process and of all below it that have ended.
 */

/** Where test files note theirs. */
export const notesVariable = 'RATCHET_PROCESSOR_TIMES';

/** A file in that directory. */
export const processorTimes = 'times';

/** Of this process, and of those below it that have ended. */
export function processorSeconds(): number {
  return secondsIn(readFileSync('/proc/self/stat', 'utf8'));
}

/**
 * Of everything that ran so far in this PID namespace: in a sandbox that is the whole run, clusters that serve several
 * files included. Every process there has a parent that counts it once it has ended: at last, PID 1.
 */
export function namespaceProcessorSeconds(): number {
  return globSync('/proc/[0-9]*/stat').reduce((sum, file) => sum + secondsIn(readIfThere(file)), 0);
}

/** A process that ends meanwhile is counted by its parent, or a moment later. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return '';
    throw error;
  }
}

function secondsIn(text: string): number {
  if (text === '') return 0;
  // The second field is the program's name in parentheses, with whatever is in it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

/** One line for a test file that ends: what its process took, unless it shares that with others. */
export function noteProcessorSeconds(directory: string, testFile: string, seconds = processorSeconds()): void {
  appendFileSync(join(directory, processorTimes), `${seconds} ${testFile}\n`);
}

/** By test file. */
export function notedProcessorSeconds(directory: string): ReadonlyMap<string, number> {
  const lines = readFileSync(join(directory, processorTimes), { encoding: 'utf8', flag: 'a+' }).split('\n');
  return new Map(
    lines.filter(Boolean).map((line) => {
      const [seconds = '', ...testFile] = line.split(' ');
      return [testFile.join(' '), Number(seconds)];
    }),
  );
}
