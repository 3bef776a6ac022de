import { addressesOf } from '../families.ts';
import type { Api } from '../node/api.ts';
import { startDns } from '../node/dns.ts';
import { lookUp } from '../node/dns-answers.ts';
import { type Informer, startInformer } from '../node/informer.ts';
import type { Log } from '../node/options.ts';
import { startProvisioner } from '../node/provisioner.ts';
import { indexSlices } from '../node/service-index.ts';
import type { Claim, EndpointSlice, KubeObject, PersistentVolume, Pod, Service, StorageClass } from '../node/wire.ts';
import { boundedDisks, startResizer } from './disks.ts';
import type { RealFaultContext } from './faults.ts';

export interface AddOnOptions {
  readonly api: Api;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Where volumes are. */
  readonly directory: string;
  readonly nodeNames: readonly string[];
}

export interface AddOns extends AsyncDisposable, Omit<RealFaultContext, 'nodes'> {}

/**
 * What a cluster has beside kubelets and kube-proxy: a name server and volumes. These are the process node's, but for
 * what the volumes are made of.
 */
export async function startAddOns(options: AddOnOptions): Promise<AddOns> {
  const { log } = options;
  const watch = <T extends KubeObject>(path: string): Informer<T> => startInformer<T>(options, path);
  const claims = watch<Claim>('/api/v1/persistentvolumeclaims');
  const persistentVolumes = watch<PersistentVolume>('/api/v1/persistentvolumes');
  const classes = watch<StorageClass>('/apis/storage.k8s.io/v1/storageclasses');
  const services = watch<Service>('/api/v1/services');
  const index = indexSlices(watch<EndpointSlice>('/apis/discovery.k8s.io/v1/endpointslices'));
  const pods = watch<Pod>('/api/v1/pods?fieldSelector=spec.nodeName!%3D');
  startProvisioner({ ...options, claims, volumes: persistentVolumes, classes, disks: boundedDisks });
  startResizer({ ...options, claims, volumes: persistentVolumes });
  const records = {
    service: (namespace: string, name: string) => services.get(`${namespace}/${name}`),
    slices: (namespace: string, name: string) => index.slices(`${namespace}/${name}`),
    hosts: {},
  };
  const dns = await startDns(addressesOf.IPv4.dns, (name) => lookUp(records, name), log);
  return { claims, persistentVolumes, pods, [Symbol.asyncDispose]: () => dns.close() };
}
