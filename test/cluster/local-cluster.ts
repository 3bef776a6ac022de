import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { baseObjects } from './base-objects.ts';
import { type Binaries, provisionBinaries } from './binaries.ts';
import { startControlPlane } from './control-plane.ts';
import { type Kubectl, kubectlFor } from './kubectl.ts';
import { currentSandbox } from './sandbox.ts';

export interface LocalClusterOptions {
  readonly binaries?: Binaries;
  /** Nodes that take pods. 3 if not given; 0 starts no process node. */
  readonly nodes?: number;
  readonly log?: (line: string) => void;
}

export interface LocalCluster extends AsyncDisposable {
  /** Full rights; works inside the sandbox. */
  readonly kubeconfigPath: string;
  readonly kubectl: Kubectl;
  /** All data and logs; gone with the sandbox. */
  readonly directory: string;
  stop(): Promise<void>;
}

/**
 * Starts a whole Kubernetes cluster from real parts. Only inside the sandbox: its addresses are fixed.
 *
 * @throws with the last lines of the log of the part that failed; the others are stopped then.
 */
export async function startLocalCluster(options: LocalClusterOptions = {}): Promise<LocalCluster> {
  const sandbox = currentSandbox();
  if (!sandbox) throw new Error('the local cluster needs its sandbox: call enterSandbox() first');

  const binaries = options.binaries ?? (await provisionBinaries());
  const directory = join(sandbox.directory, 'cluster');
  await mkdir(directory, { mode: 0o700 });

  await using parts = new AsyncDisposableStack();
  const controlPlane = parts.use(await startControlPlane(binaries, directory));
  const kubectl = kubectlFor(binaries.kubernetes.kubectl, controlPlane.kubeconfigPath);
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: baseObjects() });

  const started = parts.move();
  const stop = () => started.disposeAsync();
  return { kubeconfigPath: controlPlane.kubeconfigPath, kubectl, directory, stop, [Symbol.asyncDispose]: stop };
}
