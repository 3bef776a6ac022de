import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { certificateResource } from '../../../manifests/render/cert-manager-certificate.ts';
import { certificateRequestResource } from '../../../manifests/render/cert-manager-request.ts';
import { podName } from '../../../manifests/render/names.ts';
import { connectEtcd } from '../../../reconcile/clients/etcd.ts';
import type { ActContext } from '../../../reconcile/cluster/act/actions/context.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { observe } from '../../../reconcile/cluster/observe/observe.ts';
import { readObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import type { EtcdTls } from '../../../reconcile/interfaces/etcd.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import type { Doing } from './doing.ts';
import type { Stage } from './stage.ts';

export const clusterName = 'orders';

/** A cluster in a namespace of its own, on a real API server. */
export interface Scene extends SomeScene {
  /** What a step would see, now. */
  look(): Promise<Seen>;
  /** As the API server has it. */
  read<T extends KubeObject>(object: Doing['object'] | 'cluster', name: string): Promise<T>;
  act(doing: Doing): Promise<void>;
}

/** What the scenes of all tables of requests have. */
export interface SomeScene {
  readonly kube: Kube;
  readonly stage: Stage;
  readonly namespace: string;
  /** As it was made. */
  readonly cluster: EtcdCluster;
  /** In this namespace. */
  make<T extends KubeObject>(resource: Resource, object: T): Promise<T>;
  /** The same, and then its status. */
  makeWithStatus<T extends KubeObject>(resource: Resource, object: T, status: object): Promise<T>;
  /** As others do. */
  act(doing: Doing<string>): Promise<void>;
}

export interface Seen {
  readonly observation: Observation;
  readonly etcd: ActContext['etcd'];
}

const signal = () => AbortSignal.timeout(20_000);

export async function makeScene(
  stage: Stage,
  { tls = { mode: 'Disabled' }, auth }: Pick<EtcdCluster['spec'], 'tls' | 'auth'>,
): Promise<Scene> {
  const { kube } = stage;
  const namespace = await stage.namespace();
  const cluster = await kube.create<EtcdCluster>(resources.clusters, {
    metadata: { name: clusterName, namespace },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, tls, ...(auth && { auth }) },
  } as EtcdCluster);

  const make = <T extends KubeObject>(resource: Resource, object: T) =>
    kube.create<T>(resource, { ...object, metadata: { ...object.metadata, namespace } });
  const placeOf = (object: Doing['object'] | 'cluster', name: string) =>
    [kinds[object], object === 'pod' ? podName(name) : name] as const;
  async function read<T extends KubeObject>(object: Doing['object'] | 'cluster', name: string): Promise<T> {
    const [resource, called] = placeOf(object, name);
    const found = await kube.get<T>(resource, namespace, called);
    if (!found) throw new Error(`there is no ${object} ${name}`);
    return found;
  }
  async function remove(object: Doing['object'], name: string): Promise<void> {
    const [resource, called] = placeOf(object, name);
    const { metadata } = await read(object, name);
    const found = await read<KubeObject>(object, name);
    // Its protection is a controller's to take away.
    if (metadata.finalizers) await kube.update(resource, { ...found, metadata: { ...metadata, finalizers: [] } });
    await kube.delete(resource, namespace, called, { preconditions: { uid: metadata.uid ?? '' } });
  }

  return {
    kube,
    stage,
    namespace,
    cluster,
    make,
    read,
    makeWithStatus: async <T extends KubeObject>(resource: Resource, object: T, status: object) =>
      kube.updateStatus<T>(resource, { ...(await make(resource, object)), status }),
    act: async ({ does, object, name }) => {
      const [resource] = placeOf(object, name);
      const found = await read<KubeObject>(object, name);
      const { uid: _, resourceVersion: __, ...metadata } = found.metadata;
      if (does !== 'writes to') await remove(object, name);
      if (does === 'makes anew') await make(resource, { ...found, metadata } as KubeObject);
      if (does !== 'writes to') return;
      const annotations = { ...found.metadata.annotations, 'contract.test/written': 'by others' };
      await kube.update(resource, { ...found, metadata: { ...found.metadata, annotations } });
    },
    look: async () => {
      const [objects] = await readObjects(kube, [await read<EtcdCluster>('cluster', clusterName)], {
        namespaces: [namespace],
        signal: signal(),
      });
      if (!objects) throw new Error('the cluster is gone');
      const context = {
        kube,
        etcd: async (by?: EtcdTls) => connectEtcd(by ? { tls: by } : {}),
        wire: async () => undefined,
        holder: { pod: 'contract/test', uid: 'contract' },
        nonce: () => 'nonce',
        mayTry: true,
      };
      const seen = await observe(context, objects, signal());
      return { ...seen, observation: withoutGenerations(seen.observation) };
    },
  };
}

/** No model counts generations. */
function withoutGenerations(observation: Observation): Observation {
  const slots = observation.slots.map((slot) => {
    if (!slot.statefulSet) return slot;
    const { oursAt: _, ...statefulSet } = slot.statefulSet;
    return { ...slot, statefulSet };
  });
  return { ...observation, slots };
}

const kinds = {
  cluster: resources.clusters,
  peer: resources.peers,
  volume: resources.volumeClaims,
  configMap: resources.configMaps,
  statefulSet: resources.statefulSets,
  pod: resources.pods,
  job: resources.jobs,
  secret: resources.secrets,
  certificate: certificateResource,
  certificateRequest: certificateRequestResource,
  headlessService: resources.services,
  clientService: resources.services,
  disruptionBudget: resources.disruptionBudgets,
  networkPolicy: resources.networkPolicies,
  externalService: resources.services,
  revocations: resources.configMaps,
} as const satisfies Record<Doing['object'] | 'cluster', Resource>;
