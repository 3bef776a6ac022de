import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { baseObjects } from './base-objects.ts';
import { type LeastBinaries, provisionBinaries } from './binaries.ts';
import { openOutlet } from './bridge.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { addressesOf, type Families, prepareNetwork } from './families.ts';
import { kubeconfig } from './identities.ts';
import { type Kubectl, kubectlFor } from './kubectl.ts';
import { type ProcessNode, startProcessNode } from './node/index.ts';
import type { Timing } from './node/options.ts';
import { buildOwnImage, checkout } from './own-image.ts';
import { currentSandbox } from './sandbox.ts';

export interface LocalClusterOptions {
  readonly binaries?: LeastBinaries;
  /** Nodes that take pods. 3 if not given; 0 starts no process node. */
  readonly nodes?: number;
  /** Of pods and Services; IPv4 if not given. */
  readonly families?: Families;
  /** Of the nodes; kind to whoever waits if not given. */
  readonly timing?: Partial<Timing>;
  /** Further images of the nodes: reference → a program. */
  readonly programs?: Readonly<Record<string, string>>;
}

export interface LocalCluster extends AsyncDisposable {
  /** Full rights; works inside the sandbox. */
  readonly kubeconfigPath: string;
  /** With full rights, and without their kubeconfig: bound to it. */
  readonly kubectl: Kubectl;
  /** All data and logs; gone with the sandbox. */
  readonly directory: string;
  /** What stands in for the kubelets; `undefined` without nodes. */
  readonly node: ProcessNode | undefined;
  /**
   * Makes the API server reachable from outside the sandbox. Resolves with the path of a kubeconfig for there. Only in
   * the process that the sandbox was made for. Both end with the cluster.
   */
  expose(): Promise<string>;
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
  const { nodes = 3, families = ['IPv4'], timing = {}, programs = {} } = options;
  const directory = join(sandbox.directory, `cluster-${families.join('-')}`);
  await mkdir(directory, { mode: 0o700 });

  if (nodes > 0) await buildOwnImage(sandbox);
  await prepareNetwork(families);
  await using parts = new AsyncDisposableStack();
  const controlPlane = parts.use(await startControlPlane(binaries, directory, { families }));
  const { kubeconfigPath } = controlPlane;
  const kubectl = kubectlFor(binaries.kubernetes.kubectl, kubeconfigPath);
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: baseObjects() });
  const node =
    nodes === 0 ? undefined : await startNode(controlPlane, { binaries, directory, nodes, families, timing, programs });
  if (node) parts.defer(() => node.stop());

  const started = parts.move();
  const stop = () => started.disposeAsync();
  return {
    kubeconfigPath,
    kubectl,
    directory,
    node,
    async expose() {
      const outlet = started.use(await openOutlet({ host: addressesOf[families[0]].apiServer, port: 443 }));
      const { ca, identities } = controlPlane;
      const access = { url: `https://127.0.0.1:${outlet.port}`, ca, token: identities.admin.token };
      // The certificate is the Service's: that is whom to expect at the other end of the outlet.
      await mkdir(sandbox.sharedDirectory, { recursive: true, mode: 0o700 });
      const path = join(sandbox.sharedDirectory, 'kubeconfig');
      await writeFile(path, kubeconfig(access, { serverName: 'kubernetes.default.svc' }), { mode: 0o600 });
      return path;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface NodeOptions {
  readonly binaries: LeastBinaries;
  readonly directory: string;
  readonly nodes: number;
  readonly families: Families;
  readonly timing: Partial<Timing>;
  readonly programs: Readonly<Record<string, string>>;
}

async function startNode(
  controlPlane: ControlPlane,
  { binaries, directory, nodes, families, timing, programs }: NodeOptions,
): Promise<ProcessNode> {
  const { url, ca, identities } = controlPlane;
  return await startProcessNode({
    apiServer: { url, ca, token: identities.node.token },
    dir: join(directory, 'node'),
    nodes,
    families,
    binaries,
    checkout,
    programs,
    log: pino({ base: null }, pino.destination({ dest: join(directory, 'logs/process-node.log'), sync: true })),
    // The controllers call a node lost after 12 s (flags.ts): a lease must be renewed well within that.
    timing: { leaseMs: 3_000, ...timing },
  });
}
