import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createApi } from './api.ts';
import type { NodeContext } from './context.ts';
import { startControl } from './control.ts';
import { startDns } from './dns.ts';
import { createEventRecorder } from './events.ts';
import { startExpansion } from './expansion.ts';
import { createFaults, type Faults } from './faults.ts';
import { type Informer, startInformer } from './informer.ts';
import { startKubeletServer } from './kubelet-server.ts';
import { createLocalNode, type LocalNode, linkedApi } from './local-node.ts';
import { findLog } from './logs.ts';
import { createAddressPool, createBridge, nodeAddress, removeBridge } from './network.ts';
import { nodeCapacity } from './node-object.ts';
import { defaultTiming, type ProcessNodeOptions } from './options.ts';
import { dnsAddress } from './pod-files.ts';
import { createNodePods } from './pods.ts';
import { startProvisioner } from './provisioner.ts';
import { indexSlices } from './service-index.ts';
import { startServiceProxy } from './service-proxy.ts';
import { refreshVolumesOnChange } from './volume-refresh.ts';
import type { Claim, EndpointSlice, KubeObject, PersistentVolume, Pod, Service, StorageClass } from './wire.ts';

export { controlNode } from './control.ts';
export type { Faults } from './faults.ts';
export type { ProcessNodeOptions } from './options.ts';
export { provisionerName } from './provisioner.ts';

export type ProcessNode = Faults & {
  /** Where `controlNode` of another process reaches the same faults. */
  readonly controlSocket: string;
  /** Kills every process, removes every mount and link; the directory's files stay. */
  stop(): Promise<void>;
};

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
  const classes = watch<StorageClass>('/apis/storage.k8s.io/v1/storageclasses');
  const slices = watch<EndpointSlice>('/apis/discovery.k8s.io/v1/endpointslices');
  const index = indexSlices(slices);
  const expansion = startExpansion({ api, log, signal, claims, volumes: persistentVolumes });
  const pulls = { paused: false };

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
      pulls,
      services,
      claims,
      persistentVolumes,
      onClaimMounted: expansion.mounted,
    };
    nodes.push(createLocalNode(identity, { api: ownApi, link, pods: createNodePods(context), timing, log }));
  }
  await Promise.all(nodes.map((node) => node.start()));
  await Promise.all([services, claims, persistentVolumes, classes, slices].map(({ synced }) => synced));

  const nodeNames = nodes.map(({ name }) => name);
  const directory = join(dir, 'volumes');
  startProvisioner({ api, log, signal, directory, nodeNames, claims, volumes: persistentVolumes, classes });
  const proxy = startServiceProxy(services, slices, index, log);
  const records = {
    service: (namespace: string, name: string) => services.get(`${namespace}/${name}`),
    slices: (namespace: string, name: string) => index.slices(`${namespace}/${name}`),
    // The API server looks nodes up by name before it asks them for logs.
    hosts: { ...Object.fromEntries(nodes.map(({ name, address }) => [name, address])), ...options.hosts },
  };
  const dns = await startDns(dnsAddress, records, log);

  const pods = watch<Pod>('/api/v1/pods?fieldSelector=spec.nodeName!%3D');
  const kubelets = await Promise.all(nodes.map(({ address }) => startKubeletServer(address, findLog(dir, pods))));
  pods.onChange((pod, previous) => {
    for (const node of nodes) node.see(pod, previous);
  });
  refreshVolumesOnChange({ api, log, signal }, nodes);
  await pods.synced;

  const faults = createFaults({ dir, nodes, pods, claims, persistentVolumes, pulls });
  const controlSocket = join(dir, 'control.sock');
  const control = await startControl(controlSocket, faults);

  let stopping: Promise<void> | undefined;
  async function stopOnce(): Promise<void> {
    ending.abort();
    control.close();
    proxy.close();
    for (const kubelet of kubelets) kubelet.close();
    await Promise.all(nodes.map((node) => node.stop()));
    await dns.close();
    await removeBridge();
    api.close();
  }
  const stop = () => {
    stopping ??= stopOnce();
    return stopping;
  };
  options.signal?.addEventListener('abort', () => {
    stop().catch((error: unknown) => log.warn({ error: String(error) }, 'the process node did not stop cleanly'));
  });
  return { ...faults, controlSocket, stop };
}
