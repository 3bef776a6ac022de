import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { ApiServer } from './api-server.ts';

const account = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' };
const child = resolve(import.meta.dirname, 'tick-child.ts');

/** One pass as a process, as the CronJob makes it: with its account, and with its settings if there are some. */
export async function cronJobPass(api: ApiServer): Promise<void> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'cronjob-pass-'));
  const kubeconfig = join(directory.path, 'kubeconfig');
  await writeFile(kubeconfig, await api.kubeconfigOf(account), { mode: 0o600 });
  const settings = ['configmap', `${account.name}-settings`, '--ignore-not-found', '-o', 'jsonpath={.data}'];
  const data = await api.kubectl(['-n', account.namespace, 'get', ...settings]);
  const env = { ...process.env, ...(data && JSON.parse(data)) };
  await promisify(execFile)(process.execPath, [child, '--kubeconfig', kubeconfig], { env, timeout: 60_000 });
}
