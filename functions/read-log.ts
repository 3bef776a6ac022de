import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { abortAfter } from '../manifests/abort-after.ts';
import { readDiskLog } from '../reconcile/backup/agent/disk-log.ts';
import { diskLogText, unreadableText } from '../reconcile/jobs/disk-log.ts';

/** Where Kubernetes reads what a container has to say in the end. */
const terminationLog = '/dev/termination-log';

/** In milliseconds: five files of 64 MB at most. Its Job has a deadline, too. */
const deadline = 60_000;

/**
 * Reads the log on a member's disk, in the pod of a Job that has no rights. It answers by its termination message.
 * Resolves with the exit code; 1: the log can't be read.
 */
export async function main(args: readonly string[], answer = terminationLog): Promise<number> {
  try {
    const { values } = parseArgs({ args: [...args], options: { data: { type: 'string' } } });
    if (values.data === undefined) throw new Error('usage: read-log --data=<directory>');
    const text = diskLogText(await readDiskLog(values.data, abortAfter(deadline)));
    process.stdout.write(`${text}\n`);
    await writeFile(answer, text);
    return 0;
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${words}\n`);
    await writeFile(answer, unreadableText(words)).catch(() => undefined);
    return 1;
  }
}
