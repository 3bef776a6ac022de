import { setTimeout as sleep } from 'node:timers/promises';
import { abortAfter } from '../manifests/abort-after.ts';
import { version } from '../manifests/release.ts';
import { connectKube } from '../reconcile/clients/kube.ts';
import { carryOutOrder, parseMethod, tellHost } from '../reconcile/nodes/agent/agent.ts';

/** Between two looks for its order, in milliseconds. */
const interval = 2000;

/**
 * The one-shot Job that reboots a node (manifests/render/reboot-job.ts). Resolves with the exit code: 0 the reboot was
 * ordered, or none was due; 1 it was not ordered. Kubernetes does not repeat it.
 */
export async function main(env: NodeJS.ProcessEnv): Promise<number> {
  const { NODE_NAME: node = '', JOB_UID: job = '', RATCHET_REBOOT: json = '' } = env;
  const { RATCHET_GRANT: id = '', RATCHET_BOOT_ID: bootID = '', RATCHET_DEADLINE: seconds = '' } = env;
  const kube = await connectKube({ userAgent: `etcd-ratchet-reboot/${version}` });
  try {
    const method = parseMethod(json);
    // As the Job's own deadline, which ends this pod at the latest.
    const signal = abortAfter(1000 * parseSeconds(seconds));
    const pause = () => sleep(interval, true, { signal }).catch(() => false);
    const grant = { id, bootID };
    const words = await carryOutOrder({ kube, node, job, grant, signal, pause, reboot: () => tellHost(method) });
    process.stdout.write(`${words}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(
      `the node was not told to reboot: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return 1;
  } finally {
    kube.close();
  }
}

function parseSeconds(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error('RATCHET_DEADLINE is not a number of seconds');
  return Number(text);
}
