import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { chmod, copyFile, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from '../../../functions/build.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { kubectlFor } from '../../support/cluster/kubectl.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface KubectlRatchet extends AsyncDisposable {
  /** A directory of this test. */
  readonly directory: string;
  /** `kubectl ratchet …`, with stdin at its end. */
  readonly ratchet: (...args: readonly string[]) => Promise<Ran>;
  /** The same, under way until the test ends it, or its signal does. */
  readonly start: (args: readonly string[], signal: AbortSignal) => ChildProcessWithoutNullStreams;
  /** Any other command of kubectl. */
  readonly run: (...args: readonly string[]) => Promise<Ran>;
  /** The same for a service account of `default`: a kubeconfig of its own. */
  readonly as: (account: string) => Promise<(...args: readonly string[]) => Promise<Ran>>;
}

/** The plugin as npm installs it: the built file, found on PATH by the real kubectl. */
export async function kubectlRatchet(kubeconfig: string): Promise<KubectlRatchet> {
  const directory = await mkdtemp(join(tmpdir(), 'kubectl-ratchet-'));
  await build(join(directory, 'dist'));
  const plugin = join(directory, 'dist/plugin.js');
  await chmod(plugin, 0o755);
  await symlink(plugin, join(directory, 'kubectl-ratchet'));
  const { kubernetes } = await provisionBinaries();
  // kubectl finds the plugin, and the plugin its Node, by PATH.
  const path = [directory, dirname(process.execPath), process.env.PATH].join(delimiter);
  const environment = (file: string) => ({ ...process.env, PATH: path, KUBECONFIG: file });
  const runWith = (file: string, args: readonly string[]) => ran(kubernetes.kubectl, args, environment(file));

  return {
    directory,
    ratchet: (...args) => runWith(kubeconfig, ['ratchet', ...args]),
    start: (args, signal) => spawn(kubernetes.kubectl, ['ratchet', ...args], { env: environment(kubeconfig), signal }),
    run: (...args) => runWith(kubeconfig, args),
    as: async (account) => {
      const own = join(directory, `${account}.kubeconfig`);
      await copyFile(kubeconfig, own);
      const kubectl = kubectlFor(kubernetes.kubectl, own);
      await kubectl(['create', 'serviceaccount', account]);
      const token = (await kubectl(['create', 'token', account])).trim();
      await kubectl(['config', 'set-credentials', account, `--token=${token}`]);
      await kubectl(['config', 'set-context', '--current', `--user=${account}`]);
      return (...args) => runWith(own, ['ratchet', ...args]);
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

function ran(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const running = promisify(execFile)(file, args, { env });
  running.child.stdin?.end();
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ran) => ({ code, stdout, stderr }),
  );
}
