import { writeFile } from 'node:fs/promises';
import { lookAt } from '../reconcile/nodes/agent/sentinel.ts';

/** Where Kubernetes reads what a container has to say in the end. */
const terminationLog = '/dev/termination-log';

/**
 * The short Job that looks whether a node needs a reboot (manifests/render/look-job.ts). It has no rights: it answers
 * by its termination message. Resolves with the exit code; 1: it could not look.
 */
export async function main(env: NodeJS.ProcessEnv): Promise<number> {
  const { RATCHET_SENTINEL: path = '', RATCHET_ANSWER: answer = terminationLog } = env;
  try {
    if (path === '') throw new Error('RATCHET_SENTINEL is not set');
    const found = await lookAt(path);
    await writeFile(answer, found);
    process.stdout.write(`${path}: ${found}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`could not look: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
