import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createApi } from './api.ts';
import type { NodeContext } from './context.ts';
import { createEventRecorder } from './events.ts';
import { type Informer, startInformer } from './informer.ts';
import { createLocalNode, type LocalNode, linkedApi } from './local-node.ts';
import { createAddressPool, createBridge, nodeAddress, removeBridge } from './network.ts';
import { nodeCapacity } from './node-object.ts';
import { defaultTiming, type ProcessNodeOptions } from './options.ts';
import { createNodePods } from './pods.ts';
import type { Claim, KubeObject, PersistentVolume, Pod, Service } from './wire.ts';

export type { ProcessNodeOptions } from './options.ts';

export type ProcessNode = { stop(): Promise<void> };

/**
 * Stands in for the kubelets (and the name server, service proxy and volume provisioner) of `nodes` nodes: registers them
 * and runs the pods bound to them as local processes. Runs inside the sandbox of the local cluster.
 *
 * @throws Error when the network can't be set up or the API server does not take the nodes.
 */
export async function startProcessNode(options: ProcessNodeOptions): Promise<ProcessNode> {
  const { dir, log, binaries, checkout } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const ending = new AbortController();
  const signal = ending.signal;
  const api = createApi(options.apiServer);
  await mkdir(join(dir, 'volumes'), { recursive: true });
  await createBridge(options.nodes);

  const watch = <T extends KubeObject>(path: string): Informer<T> => startInformer<T>({ api, log, signal }, path);
  const services = watch<Service>('/api/v1/services');
  const claims = watch<Claim>('/api/v1/persistentvolumeclaims');
  const persistentVolumes = watch<PersistentVolume>('/api/v1/persistentvolumes');

  const nodes: LocalNode[] = [];
  for (let index = 1; index <= options.nodes; index++) {
    const identity = { name: `node-${index}`, index, address: nodeAddress(index) };
    const link = { up: true };
    const ownApi = linkedApi(api, link, identity.name);
    const context: NodeContext = {
      ...identity,
      dir,
      api: ownApi,
      log,
      timing,
      pool: createAddressPool(index),
      events: createEventRecorder(ownApi, identity.name, log),
      allocatable: nodeCapacity(),
      images: { binaries, checkout, nodeBinary: process.execPath, images: options.images ?? {} },
      pulled: new Set(),
      pulls: { paused: false },
      services,
      claims,
      persistentVolumes,
      onClaimMounted: () => undefined,
    };
    nodes.push(createLocalNode(identity, { api: ownApi, link, pods: createNodePods(context), timing, log }));
  }
  await Promise.all(nodes.map((node) => node.start()));
  await Promise.all([services.synced, claims.synced, persistentVolumes.synced]);

  const pods = watch<Pod>('/api/v1/pods?fieldSelector=spec.nodeName!%3D');
  pods.onChange((pod, previous) => {
    for (const node of nodes) node.see(pod, previous);
  });
  await pods.synced;

  let stopping: Promise<void> | undefined;
  async function stopOnce(): Promise<void> {
    ending.abort();
    await Promise.all(nodes.map((node) => node.stop()));
    await removeBridge();
    api.close();
  }
  const stop = () => {
    stopping ??= stopOnce();
    return stopping;
  };
  options.signal?.addEventListener('abort', () => void stop());
  return { stop };
}
