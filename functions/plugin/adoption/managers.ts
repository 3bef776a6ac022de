import type { Pod } from '../../../manifests/kube-types.ts';
import { KubeError, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import type { Asked } from '../command.ts';
import { makerOf, operatorOf } from './makers.ts';

/** What manages a pod, and what manages that. */
export interface Managers {
  /** Like `StatefulSet old`, `EtcdCluster old (operator.etcd.io/v1alpha1)`. */
  readonly managedBy: readonly string[];
  /** It would repair what an adoption takes away. */
  readonly operator?: string;
  /** What its maker does that a person must know. */
  readonly warns?: string;
}

const replicaSets: Resource = { apiVersion: 'apps/v1', kind: 'ReplicaSet', plural: 'replicasets' };

/** What operators put between their resource and its pods, where they do. */
const between: ReadonlyMap<string, Resource> = new Map([
  ['StatefulSet', resources.statefulSets],
  ['ReplicaSet', replicaSets],
]);

/** Of each of these pods, in their order. What manages several is read once. */
export async function managersOf(pods: readonly Pod[], asked: Asked): Promise<readonly Managers[]> {
  const known = new Map<string, Promise<Managers>>();
  const above = async (pod: Pod): Promise<Managers> => {
    const owner = controllerOf(pod);
    if (!owner) return { managedBy: [] };
    const resource = owner.apiVersion === 'apps/v1' ? between.get(owner.kind) : undefined;
    if (!resource) return managing(owner);
    const word = `${owner.kind} ${owner.name}`;
    const owners = known.get(word) ?? ownersOf(resource, owner.name, asked);
    known.set(word, owners);
    const { managedBy, ...rest } = await owners;
    return { managedBy: [word, ...managedBy], ...rest };
  };
  return Promise.all(
    pods.map(async (pod) => {
      const { warns } = makerOf(pod) ?? {};
      return { ...(await above(pod)), ...(warns !== undefined && { warns }) };
    }),
  );
}

async function ownersOf(resource: Resource, name: string, { kube, namespace, stop }: Asked): Promise<Managers> {
  try {
    const owner = controllerOf(await kube.get<KubeObject>(resource, namespace, name, { signal: stop }));
    return owner ? managing(owner) : { managedBy: [] };
  } catch (error) {
    if (!(error instanceof KubeError) || error.reason !== 'Forbidden') throw error;
    return { managedBy: [`unknown: you may not read ${resource.kind}s`] };
  }
}

function managing({ kind, name, apiVersion }: NonNullable<ReturnType<typeof controllerOf>>): Managers {
  const operator = operatorOf(apiVersion);
  return { managedBy: [`${kind} ${name} (${apiVersion})`], ...(operator !== undefined && { operator }) };
}

function controllerOf(object: KubeObject | undefined) {
  return object?.metadata.ownerReferences?.find(({ controller }) => controller);
}
