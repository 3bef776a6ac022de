import { mkdir, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { pino } from 'pino';
import { baseObjects } from '../base-objects.ts';
import { type Binaries, provisionBinaries } from '../binaries.ts';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';
import { untilReady } from '../daemon.ts';
import { type Kubectl, kubectlFor } from '../kubectl.ts';
import type { LocalCluster } from '../local-cluster.ts';
import { createApi } from '../node/api.ts';
import { startControl } from '../node/control.ts';
import { bridge, createBridge, removeBridge } from '../node/network.ts';
import { buildOwnImage } from '../own-image.ts';
import { cgroupVariable } from '../sandbox/cgroups.ts';
import { currentSandbox } from '../sandbox.ts';
import { tools } from '../tools.ts';
import { type AddOns, startAddOns } from './add-ons.ts';
import { createRealFaults } from './faults.ts';
import { imageSources, writeImage } from './images.ts';
import { makeCgroup, prepareMachine, prepareServices } from './machine.ts';
import { administration, needRealNode } from './needs.ts';
import { startProxy } from './proxy.ts';
import { type RealNode, startRealNode } from './real-node.ts';

export interface RealClusterOptions {
  readonly binaries?: Binaries;
  /** Nodes, each with a containerd and a kubelet. 3 if not given. */
  readonly nodes?: number;
}

/**
 * Starts a Kubernetes cluster whose nodes are real: kubelet, kube-proxy, containerd and runc, so that users, fsGroups,
 * sizes of volumes and limits of memory are enforced. Only inside a sandbox with root's rights.
 *
 * @throws with the last lines of the log of the part that failed; the others are stopped then.
 */
export async function startRealCluster({ binaries, nodes = 3 }: RealClusterOptions = {}): Promise<LocalCluster> {
  const sandbox = currentSandbox();
  const cgroup = process.env[cgroupVariable];
  if (!sandbox || cgroup === undefined) throw new Error("real nodes need a sandbox with root's rights");
  const { cniPlugins } = needRealNode();
  // Shims look for runc, and kube-proxy for iptables, by it.
  process.env.PATH = [process.env.PATH, ...administration].join(delimiter);
  const found = binaries ?? (await provisionBinaries());
  const own = await tools.realNode.provide();
  const directory = join(sandbox.directory, 'real');
  const logs = join(directory, 'logs');
  await mkdir(directory, { mode: 0o711 });
  await prepareMachine(directory);
  await makeCgroup(cgroup);
  await buildOwnImage(sandbox);

  await using parts = new AsyncDisposableStack();
  await createBridge(nodes, ['IPv4']);
  parts.defer(removeBridge);
  await prepareServices(bridge);
  const controlPlane = parts.use(await startControlPlane(found, directory));
  const { kubeconfigPath } = controlPlane;
  const kubectl = kubectlFor(found.kubernetes.kubectl, kubeconfigPath);
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: baseObjects() });
  const addOns = parts.use(await startServices(controlPlane, { directory, logs, nodes }));
  const kubeconfig = join(directory, 'node.kubeconfig');

  // On the disk: each node has all images twice, packed and not, and what is in the sandbox is in memory.
  const disk = join(sandbox.sharedDirectory, 'real');
  await mkdir(disk, { recursive: true, mode: 0o700 });
  parts.defer(() => rm(disk, { recursive: true, force: true }));
  const images: string[] = [];
  for (const source of await imageSources(found, own.pause)) images.push(await writeImage(source, disk));
  const running: RealNode[] = [];
  for (let node = 1; node <= nodes; node++) {
    const machine = { directory: join(directory, `node-${node}`), logs, bridge, cniPlugins, cgroup };
    const root = join(disk, `node-${node}`);
    const options = { ...machine, root, node, kubeconfig, images, kubeletBinary: own.kubelet };
    running.push(parts.use(await startRealNode(options)));
  }
  for (const image of images) await rm(image);
  for (const node of running) await untilReady(node.kubelet(), () => isReady(kubectl, node));

  // It waits for its Node.
  const proxy = await startProxy({ binary: own.kubeProxy, directory, logs, kubeconfig });
  parts.defer(() => proxy.stop());

  const faults = createRealFaults({ ...addOns, nodes: running });
  const controlSocket = join(directory, 'control.sock');
  const control = await startControl(controlSocket, faults);
  parts.defer(() => control.close());

  const started = parts.move();
  const stop = () => started.disposeAsync();
  return {
    kubeconfigPath,
    kubectl,
    directory,
    node: { ...faults, controlSocket, stop },
    expose: () => Promise.reject(new Error('a cluster of real nodes is reached in its sandbox only')),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function isReady(kubectl: Kubectl, { name }: RealNode): Promise<boolean> {
  const path = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
  return (await kubectl(['get', 'node', name, '-o', path])) === 'True';
}

interface Place {
  readonly directory: string;
  readonly logs: string;
  readonly nodes: number;
}

async function startServices(
  { url, ca, identities }: ControlPlane,
  { directory, logs, nodes }: Place,
): Promise<AddOns> {
  await using parts = new AsyncDisposableStack();
  const api = createApi({ url, ca, token: identities.node.token });
  parts.defer(() => api.close());
  const ending = new AbortController();
  parts.defer(() => ending.abort());
  const volumes = join(directory, 'volumes');
  await mkdir(volumes);
  const log = pino({ base: null }, pino.destination({ dest: join(logs, 'add-ons.log'), sync: true }));
  const nodeNames = Array.from({ length: nodes }, (_, index) => `node-${index + 1}`);
  const addOns = parts.use(await startAddOns({ api, log, signal: ending.signal, directory: volumes, nodeNames }));
  const started = parts.move();
  return { ...addOns, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
