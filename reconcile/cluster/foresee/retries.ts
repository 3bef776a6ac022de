import type { Slot } from '../know/observation.ts';

/**
 * kubelet tries again and again to start a pod that lacks an object. Where a step makes that object, what kubelet said
 * of the pod before is over.
 */

/** A ConfigMap that gives its container's variables. */
export function configuring(slot: Slot): Slot {
  const { pod } = slot;
  if (pod?.container.reason !== 'CreateContainerConfigError') return slot;
  return { ...slot, pod: { ...pod, container: { ...pod.container, reason: 'ContainerCreating' } } };
}

/** A Secret or ConfigMap that it mounts. */
export function mounting(slot: Slot): Slot {
  const { warnings = [] } = slot;
  const left = warnings.filter(({ object, reason }) => object !== 'pod' || reason !== 'FailedMount');
  return left.length === warnings.length ? slot : { ...slot, warnings: left };
}
