import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Kubectl } from '../support/cluster/kubectl.ts';

const run = promisify(execFile);

/** Where a pod has its service account. */
const mountPoint = '/run';
const accountDirectory = join(mountPoint, 'secrets/kubernetes.io/serviceaccount');

/**
 * Gives the processes of this sandbox, from now on, the service account that a tick's pod has, at the path where it has
 * it. Resolves with the environment of that pod.
 *
 * On a tmpfs over /run, in the sandbox's own mount namespace: nothing outside sees it, and it goes with the run.
 */
export async function enterServiceAccount(kubectl: Kubectl, directory: string): Promise<NodeJS.ProcessEnv> {
  const token = await kubectl(['-n', 'etcd-ratchet', 'create', 'token', 'etcd-ratchet', '--duration=2h']);
  const ca = await kubectl([
    '-n',
    'etcd-ratchet',
    'get',
    'configmap',
    'kube-root-ca.crt',
    '-o',
    'jsonpath={.data.ca\\.crt}',
  ]);
  await run('mount', ['-t', 'tmpfs', '-o', 'mode=0755', 'bench', mountPoint]);
  await mkdir(accountDirectory, { recursive: true });
  await writeFile(join(accountDirectory, 'token'), token.trim(), { mode: 0o600 });
  await writeFile(join(accountDirectory, 'ca.crt'), ca);
  const settings = await kubectl([
    ...['-n', 'etcd-ratchet', 'get', 'configmap', 'etcd-ratchet-settings'],
    ...['-o', 'jsonpath={.data}'],
  ]);
  return {
    ...(JSON.parse(settings) as Readonly<Record<string, string>>),
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    NODE_COMPILE_CACHE: join(directory, '.compile-cache'),
    KUBERNETES_SERVICE_HOST: '10.96.0.1',
    KUBERNETES_SERVICE_PORT: '443',
    POD_NAME: 'bench',
    POD_UID: 'bench',
    POD_NAMESPACE: 'etcd-ratchet',
    CRONJOB_NAME: 'etcd-ratchet',
  };
}

/** What Node allows itself in a container of 512 MiB, as a tick's: 259 MiB in all, by `v8.getHeapStatistics()`. */
export const heapOfPod = ['--max-old-space-size=256', '--max-semi-space-size=1'];

/** As the Dockerfile does: everything is compiled once, for this Node and these paths. */
export async function fillCompileCache(directory: string): Promise<void> {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(directory, '.compile-cache') };
  const script =
    "import { globSync } from 'node:fs'; for (const chunk of globSync(process.argv[1])) await import(chunk)";
  await run(process.execPath, ['--input-type=module', '-e', script, join(directory, 'chunks/*.js')], { env });
  await run(process.execPath, [join(directory, 'tick.js'), '--help'], { env });
}
