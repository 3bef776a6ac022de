import { isControlledBy } from '../../../manifests/build/owner-reference.ts';
import { inEachFamily } from '../../../manifests/build/services.ts';
import type { PodDisruptionBudget, Service } from '../../../manifests/kube-types.ts';
import { isReason, type Resource, resources } from '../../kube.ts';
import type { ActionOf, SharedObject } from '../actions.ts';
import { sharedObject } from '../shared-objects.ts';
import { type ActContext, nameTaken } from './context.ts';

const resourceOf = {
  'headless-service': resources.services,
  'client-service': resources.services,
  'disruption-budget': resources.disruptionBudgets,
} as const satisfies Record<SharedObject, Resource>;

/** Makes each object what it should be, or removes it where none should be. @throws {StepError} `NameTaken`. */
export async function applyShared(
  { objects, minAvailable }: ActionOf<'apply-shared'>,
  context: ActContext,
): Promise<void> {
  await Promise.all(objects.map((kind) => applyOne(kind, minAvailable, context)));
}

async function applyOne(
  kind: SharedObject,
  minAvailable: number,
  { kube, cluster, signal }: ActContext,
): Promise<void> {
  const resource = resourceOf[kind];
  const wanted = sharedObject(kind, cluster, minAvailable);
  const { namespace, name } = wanted.metadata;
  const needed = kind !== 'disruption-budget' || minAvailable > 0;
  const found = await kube.get<Service | PodDisruptionBudget>(resource, namespace, name, { signal });
  if (found && !isControlledBy(found, cluster.metadata.uid ?? '')) throw nameTaken(resource, name);
  if (!needed) {
    if (found?.metadata.uid)
      await kube.delete(resource, namespace, name, { preconditions: { uid: found.metadata.uid }, signal });
    return;
  }
  if (found) {
    await kube.update(resource, merge(found, wanted), { signal });
    return;
  }
  try {
    await kube.create(resource, isService(wanted) ? inEachFamily(wanted) : wanted, { signal });
  } catch (error) {
    if (isReason(error, 'AlreadyExists')) throw nameTaken(resource, name);
    throw error;
  }
}

function isService(wanted: Service | PodDisruptionBudget): wanted is Service {
  return wanted.kind === 'Service';
}

/** Ours wins where we say something; an allocated address, or a label of somebody else, stays. */
function merge<T extends Service | PodDisruptionBudget>(found: T, wanted: T): T {
  return {
    ...found,
    metadata: {
      ...found.metadata,
      labels: { ...found.metadata.labels, ...wanted.metadata.labels },
      annotations: { ...found.metadata.annotations, ...wanted.metadata.annotations },
    },
    spec: { ...found.spec, ...wanted.spec },
  };
}
