import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mock, suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { noteProcessorSeconds, processorSeconds } from '../support/processor-time.ts';

/** With this, the name of an empty suite after the last test of a file begins. */
export const endOf = 'end of ';

/**
 * Runs test files in this process, one after the other, and tells where each ends: per-file.ts reads that.
 *
 * @param notes where each file's processor time is noted
 */
export async function runFiles(files: readonly string[], notes: string): Promise<void> {
  // A test may wait for a timer that keeps no process up, and the files after it are still to come.
  const awake = setInterval(() => undefined, 60_000);
  // Node loads what removes directories with the first use, and its retries would keep the mocked timers of that time.
  await rm(join(notes, 'absent'), { recursive: true, force: true });
  for (const file of files) {
    const before = processorSeconds();
    const environment = { ...process.env };
    try {
      await import(pathToFileURL(file).href);
    } catch (error) {
      // Its neighbours run all the same.
      test(`${file} can be loaded`, () => Promise.reject(error));
    }
    // Tests run in their order: at its end, all of this file have ended.
    await suite(`${endOf}${file}`, () => undefined);
    noteProcessorSeconds(notes, file, processorSeconds() - before);
    mock.reset();
    restore(environment);
  }
  clearInterval(awake);
}

function restore(environment: Readonly<NodeJS.ProcessEnv>): void {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}
