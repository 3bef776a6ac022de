import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../manifests/render/names.ts';
import { isReason, type KubeObject, type Resource, resources } from '../../reconcile/interfaces/kube.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { clusterNamed, nextCommand, say } from './objects.ts';

/** Another writer may change the cluster in between: a tick does so every few seconds while it works. */
const attempts = 5;

/** From now on a cluster is observed, and no step is taken. Git does not own this annotation. */
export async function pause(name: string, asked: Asked): Promise<ExitCode> {
  await annotate(name, asked, { [annotations.paused]: 'true' });
  const paused = `${asked.namespace}/${name} is paused: it is observed, and no step is taken`;
  const data = { namespace: asked.namespace, name, paused: true };
  say(asked, `${paused}; go on with: ${nextCommand(asked, `resume ${name}`)}`, data);
  return 0;
}

export async function resume(name: string, asked: Asked): Promise<ExitCode> {
  const { spec } = await annotate(name, asked, { [annotations.paused]: undefined });
  const data = { namespace: asked.namespace, name, paused: false, suspended: spec.suspend ?? false };
  say(asked, `${asked.namespace}/${name} is not paused; the next pass goes on with it`, data);
  if (spec.suspend)
    asked.err(`it is still suspended by spec.suspend, which its owner (in Git, its document) must take back\n`);
  return 0;
}

/** @returns the cluster as it is after that. @throws {Refusal} when others keep changing it. */
export async function annotate(name: string, asked: Asked, changes: Changes): Promise<EtcdCluster> {
  return annotateObject(resources.clusters, { read: () => clusterNamed(name, asked) }, asked, changes);
}

type Changes = Readonly<Record<string, string | undefined>>;

/**
 * Changes annotations of the object that was read and checked; after a conflict it is read and checked again.
 * @throws what `check` throws; {Refusal} when others keep changing it.
 */
export async function annotateObject<T extends KubeObject>(
  resource: Resource,
  { read, check }: { readonly read: () => Promise<T>; readonly check?: (object: T) => void },
  { kube, stop }: Asked,
  changes: Changes,
): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const object = await read();
    check?.(object);
    const merged = Object.entries({ ...object.metadata.annotations, ...changes });
    const kept = Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined));
    try {
      const changed = { ...object, metadata: { ...object.metadata, annotations: kept } };
      return await kube.update<T>(resource, changed, { signal: stop });
    } catch (error) {
      if (!isReason(error, 'Conflict')) throw error;
    }
  }
  throw new Refusal(`the object was changed by others ${attempts} times in a row: try again`);
}
