import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { namespace, type World } from './world.ts';

/** Other clients that write into objects of ours: an API server takes it, and raises the generation of a spec. */

type Spec = StatefulSet['spec'];

/** `manager`: as `metadata.managedFields` names the client. */
export async function changeSet(
  world: World,
  name: string,
  change: (spec: Spec) => Spec,
  manager = 'kubectl-edit',
): Promise<void> {
  const found = setNamed(world, name);
  const managedFields = [{ manager, operation: 'Update', time: '2026-01-02T03:04:05Z', fieldsV1: { 'f:spec': {} } }];
  const metadata = { ...found.metadata, managedFields };
  const changed = { ...found, metadata, spec: change(found.spec) };
  const { uid = '', generation = 0 } = (await world.kube.update<StatefulSet>(resources.statefulSets, changed)).metadata;
  if (manager !== rollout) world.state.changedByOthers.set(uid, generation);
}

/** `kubectl rollout restart`: what it sets is no change of a template of ours. */
export const rollout = 'kubectl-rollout';

export function setNamed(world: World, name: string): StatefulSet {
  const found = world.kube
    .stored<StatefulSet>(resources.statefulSets)
    .find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (!found) throw new Error(`there is no StatefulSet ${name}`);
  return found;
}

export function withImage(image: string): (spec: Spec) => Spec {
  return onEtcd((etcd) => ({ ...etcd, image }));
}

export function withFlag(flag: string): (spec: Spec) => Spec {
  return onEtcd((etcd) => ({ ...etcd, args: [...(etcd.args ?? []), flag] }));
}

export function withReplicas(replicas: number): (spec: Spec) => Spec {
  return (spec) => ({ ...spec, replicas });
}

export function withTemplateAnnotation(key: string, value: string): (spec: Spec) => Spec {
  return (spec) => {
    const { metadata, ...rest } = spec.template;
    const annotations = { ...metadata.annotations, [key]: value };
    return { ...spec, template: { ...rest, metadata: { ...metadata, annotations } } };
  };
}

type Container = Spec['template']['spec']['containers'][number];

function onEtcd(change: (etcd: Container) => Container): (spec: Spec) => Spec {
  return (spec) => {
    const { template } = spec;
    const containers = template.spec.containers.map((one) => (one.name === 'etcd' ? change(one) : one));
    return { ...spec, template: { ...template, spec: { ...template.spec, containers } } };
  };
}
