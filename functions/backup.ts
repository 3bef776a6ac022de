import { readFile, writeFile } from 'node:fs/promises';
import { readHosts } from '../manifests/render/listed-hosts.ts';
import { runAgent } from '../reconcile/backup/agent/agent.ts';
import { egressFrom } from './environment.ts';

/** How long it may clean up after it was told to stop, in milliseconds: kubelet gives it 30 s. */
const hardLimitMs = 20_000;

/**
 * The agent of backups, in a Job's pod, with one JSON document as request and one as `AgentResult`. Resolves with the
 * exit code: 0 done, 1 may succeed when repeated, 2 a wrong request, 3 for a person, 4 a defective snapshot.
 */
export async function main(env: NodeJS.ProcessEnv): Promise<number> {
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => {
      stopping.abort(new Error(name));
      setTimeout(() => process.exit(1), hardLimitMs).unref();
    });
  }
  const file = env.RATCHET_BACKUP_REQUEST_FILE;
  const json = env.RATCHET_BACKUP_REQUEST ?? (file === undefined ? '' : await readFile(file, 'utf8'));
  const egress = egressFrom(env);
  // The Secret is of the namespace, so it may say of its own where it is shown.
  const plainHttp = [...egress.plainHttp, ...readHosts(env.RATCHET_NAMESPACE_PLAIN_HTTP_HOSTS).patterns];
  const { result, exitCode } = await runAgent(json, {
    egress: { ...egress, plainHttp },
    signal: stopping.signal,
    now: () => new Date(),
    note: (text) => process.stderr.write(`${text}\n`),
  });
  const text = JSON.stringify(result);
  process.stdout.write(`${text}\n`);
  // Outside a pod there is none.
  const terminationLog = env.RATCHET_TERMINATION_LOG ?? '/dev/termination-log';
  await writeFile(terminationLog, text, { flag: 'r+' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') process.stderr.write(`the termination message can't be written: ${error.message}\n`);
  });
  return exitCode;
}
