import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemBus } from '../../../../manifests/render/reboot-job.ts';
import { addressesOf } from '../families.ts';
import { type Api, createApi } from './api.ts';
import type { NodeContext } from './context.ts';
import { startControl } from './control.ts';
import { startDns } from './dns.ts';
import { rememberingMisses } from './dns-misses.ts';
import { createEventRecorder } from './events.ts';
import { startExpansion } from './expansion.ts';
import { createFaults, defaultDownMs, type Faults } from './faults.ts';
import { startHostBus } from './host-bus.ts';
import { type Informer, startInformer } from './informer.ts';
import { startKubeletServer } from './kubelet-server.ts';
import { createLocalNode, type LocalNode, linkedApi } from './local-node.ts';
import { findLog } from './logs.ts';
import { createAddressPool, createBridge, removeBridge } from './network.ts';
import { nodeCapacity } from './node-object.ts';
import { createObjectCache } from './object-cache.ts';
import { defaultTiming, type ProcessNodeOptions, type Timing } from './options.ts';
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
 * Stands in for the kubelets (and the name server, service proxy and volume provisioner) of `nodes` nodes: registers
 * them and runs the pods bound to them as local processes. Runs inside the sandbox of the local cluster.
 *
 * @throws Error when the network can't be set up or the API server does not take the nodes.
 */
export async function startProcessNode(options: ProcessNodeOptions): Promise<ProcessNode> {
  const { dir, log, families = ['IPv4'] } = options;
  await using parts = new AsyncDisposableStack();
  const api = createApi(options.apiServer);
  parts.defer(() => api.close());
  await mkdir(join(dir, 'volumes'), { recursive: true });
  await createBridge(options.nodes, families);
  parts.defer(removeBridge);
  const ending = new AbortController();
  parts.defer(() => ending.abort());

  const watching = { api, log, signal: ending.signal };
  const watch = <T extends KubeObject>(path: string): Informer<T> => startInformer<T>(watching, path);
  const services = watch<Service>('/api/v1/services');
  const slices = watch<EndpointSlice>('/apis/discovery.k8s.io/v1/endpointslices');
  const claims = watch<Claim>('/api/v1/persistentvolumeclaims');
  const persistentVolumes = watch<PersistentVolume>('/api/v1/persistentvolumes');
  const classes = watch<StorageClass>('/apis/storage.k8s.io/v1/storageclasses');
  const pods = watch<Pod>('/api/v1/pods?fieldSelector=spec.nodeName!%3D');
  const expansion = startExpansion({ ...watching, claims, volumes: persistentVolumes });
  const index = indexSlices(slices);
  const pulls = { paused: false };
  const unmountable = new Set<string>();

  const shared = { services, claims, persistentVolumes, onClaimMounted: expansion.mounted, pulls, unmountable };
  const timing = { ...defaultTiming, ...options.timing };
  const { gitVersion } = await api.get<{ readonly gitVersion: string }>('/version');
  const nodes = createNodes({ ...options, version: gitVersion }, timing, api, shared);
  parts.defer(() => Promise.all(nodes.map((node) => node.stop())).then(() => undefined));
  await Promise.all(nodes.map((node) => node.start()));
  await firstLists([services, slices, claims, persistentVolumes, classes]);

  const nodeNames = nodes.map(({ name }) => name);
  const directory = join(dir, 'volumes');
  startProvisioner({ ...watching, directory, nodeNames, claims, volumes: persistentVolumes, classes });
  const proxy = startServiceProxy(services, slices, index, {
    log,
    nodeAddresses: nodes.flatMap(({ addresses }) => addresses),
  });
  parts.defer(() => proxy.close());
  const records = {
    service: (namespace: string, name: string) => services.get(`${namespace}/${name}`),
    slices: (namespace: string, name: string) => index.slices(`${namespace}/${name}`),
    // The API server looks nodes up by name before it asks them for logs.
    hosts: { ...Object.fromEntries(nodes.map(({ name, addresses }) => [name, addresses[0]])), ...options.hosts },
  };
  const dns = await startDns(addressesOf[families[0]].dns, rememberingMisses(records, timing.missingNameMs), log);
  parts.defer(() => dns.close());
  for (const { addresses } of nodes) {
    const kubelet = await startKubeletServer(addresses[0], findLog(dir, pods));
    parts.defer(() => kubelet.close());
  }
  for (const node of nodes) {
    const bus = await startHostBus(busOf(dir, node.index), () => node.reboot(defaultDownMs, pods.list));
    parts.defer(() => bus.close());
  }
  pods.onChange((pod, previous) => {
    for (const node of nodes) node.see(pod, previous);
  });
  refreshVolumesOnChange(watching, nodes);
  await firstLists([pods]);

  const faults = createFaults({ dir, nodes, pods, claims, persistentVolumes, pulls, unmountable });
  const controlSocket = join(dir, 'control.sock');
  const control = await startControl(controlSocket, faults);
  parts.defer(() => control.close());

  const started = parts.move();
  const stop = () => started.disposeAsync();
  options.signal?.addEventListener('abort', () => {
    stop().catch((error: unknown) => log.warn({ error: String(error) }, 'the process node did not stop cleanly'));
  });
  return { ...faults, controlSocket, stop };
}

function busOf(dir: string, index: number): string {
  return join(dir, `bus-${index}.sock`);
}

type Shared = Pick<
  NodeContext,
  'services' | 'claims' | 'persistentVolumes' | 'onClaimMounted' | 'pulls' | 'unmountable'
>;

function createNodes(
  options: ProcessNodeOptions & { readonly version: string },
  timing: Timing,
  api: Api,
  shared: Shared,
): LocalNode[] {
  const { dir, log, binaries, checkout, version, families = ['IPv4'], images = {}, programs = {} } = options;
  return Array.from({ length: options.nodes }, (_, position) => {
    const index = position + 1;
    const [primary, ...others] = families;
    const addresses = [
      addressesOf[primary].node(index),
      ...others.map((other) => addressesOf[other].node(index)),
    ] as const;
    const podCIDRs = families.map((family) => addressesOf[family].podCIDR(index));
    const identity = { name: `node-${index}`, index, addresses, podCIDRs, version };
    const link = { up: true };
    const ownApi = linkedApi(api, link, identity.name);
    const pods = createNodePods({
      ...identity,
      ...shared,
      dir,
      api: ownApi,
      objects: createObjectCache(ownApi, timing.keepsImmutable),
      log,
      timing,
      pool: createAddressPool(index, families),
      nameserver: addressesOf[primary].dns,
      events: createEventRecorder(ownApi, identity.name, log),
      allocatable: nodeCapacity(),
      images: { binaries, checkout, nodeBinary: process.execPath, images, programs },
      hostPaths: { [systemBus]: busOf(dir, index) },
      pulled: new Set(),
      pulling: new Map(),
    });
    return createLocalNode(identity, { api: ownApi, link, pods, timing, log });
  });
}

/** @throws Error when one has not been read within half a minute: the token may not read it, or nobody answers. */
async function firstLists(informers: readonly { path: string; synced: Promise<void> }[]): Promise<void> {
  for (const { path, synced } of informers) {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`the process node could not list ${path} within 30 s`)), 30_000);
    await Promise.race([synced, late]).finally(() => clearTimeout(timer));
  }
}
