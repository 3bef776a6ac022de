import { once } from 'node:events';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { entryOf } from '../../functions/entry.ts';
import type { LeastBinaries } from '../support/cluster/binaries.ts';
import { openOutlet } from '../support/cluster/bridge.ts';
import { openPodProxy, type PodProxy } from './forward.ts';
import type { Ground } from './ground.ts';
import { openPage } from './page.ts';

/**
 * Keeps everything up until Ctrl-C, reachable from outside the namespace on 127.0.0.1, and says how to use it.
 *
 * @param ideas what to try first, with what is there
 */
export async function stay(ground: Ground, binaries: LeastBinaries, ideas: string): Promise<void> {
  const { gitUrl, apiUrl, token, password } = ground.forge;
  await using git = await openOutlet({ host: '127.0.0.1', port: Number(new URL(gitUrl).port) });
  await using api = await openOutlet({ host: '127.0.0.1', port: Number(new URL(apiUrl).port) });
  await using page = await openPage(ground);
  await using pods = await openPodProxy();
  const kubeconfig = await ground.cluster.expose();
  const environment = await environmentFile(dirname(kubeconfig), binaries, {
    KUBECONFIG: kubeconfig,
    GIT_URL: `http://ada:${token}@127.0.0.1:${git.port}${new URL(gitUrl).pathname}`,
    FORGE_URL: `http://127.0.0.1:${api.port}${new URL(apiUrl).pathname}/repos/platform/etcd`,
    FORGE_TOKEN: token,
    ...(password !== undefined && { FORGE_PASSWORD: password }),
  });
  await forwardThrough(pods, join(dirname(environment), 'bin/kubectl'), binaries);
  console.log(`
It stays up until you press Ctrl-C. In another terminal, this line sets KUBECONFIG, GIT_URL, FORGE_URL and FORGE_TOKEN, and finds etcdctl, and kubectl with its plugin ratchet:

  . ${environment}

The page of etcd-ratchet shows fleets, clusters and what comes next: ${page.url}
${password === undefined ? '' : pages(`http://127.0.0.1:${git.port}`)}
${ideas}
Push a change, then wait for the minute, or make a tick of your own:

  kubectl -n etcd-ratchet create job --from=cronjob/etcd-ratchet mine-$RANDOM
`);
  const alive = setInterval(() => {}, 60_000);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  clearInterval(alive);
}

function pages(url: string): string {
  return `The forge has pages, with each request's plan and statuses: ${url}/platform/etcd/pulls
for the user ada, with the password that this prints: echo "$FORGE_PASSWORD"
They show without scripts: open and merge requests by its API, as the tutorials do.
`;
}

/** For a shell to read: no command on the way shows the token in a list of processes. */
export async function environmentFile(
  directory: string,
  binaries: LeastBinaries,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const commands = join(directory, 'bin');
  await mkdir(commands, { recursive: true });
  await symlink(binaries.kubernetes.kubectl, join(commands, 'kubectl'));
  await symlink(binaries.etcdctl, join(commands, 'etcdctl'));
  await writePlugin(directory, join(commands, 'kubectl-ratchet'));
  const lines = Object.entries(variables).map(
    ([name, value]) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'`,
  );
  const path = join(directory, 'env');
  await writeFile(path, `${lines.join('\n')}\nexport PATH='${commands}':"$PATH"\n`, { mode: 0o600 });
  return path;
}

/** Instead of kubectl: the same, and a port-forward that leads into the sandbox. */
async function forwardThrough(pods: PodProxy, command: string, { kubernetes }: LeastBinaries): Promise<void> {
  const program = resolve(import.meta.dirname, 'port-forward.ts');
  await rm(command);
  const script = `#!/bin/sh
case " $* " in
*' port-forward '*) exec '${process.execPath}' '${program}' ${pods.port} '${kubernetes.kubectl}' "$@" ;;
*) exec '${kubernetes.kubectl}' "$@" ;;
esac
`;
  await writeFile(command, script, { mode: 0o755 });
}

/** From the sources: what is bundled is seen in the sandbox only. */
export async function writePlugin(directory: string, command: string): Promise<void> {
  const program = join(directory, 'kubectl-ratchet.mjs');
  const source = pathToFileURL(resolve(import.meta.dirname, '../../functions/plugin.ts'));
  await writeFile(program, entryOf('plugin', source.href));
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
}
