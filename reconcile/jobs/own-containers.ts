import type { ContainerStatus, Job, Pod } from '../../manifests/kube-types.ts';

/** Of the containers that the Job asked for, in their order: admission may have put others into its pod. */
export function ownStatuses({ spec }: Job, pod: Pod | undefined): readonly ContainerStatus[] {
  const { initContainers = [], containers } = spec.template.spec;
  const asked = new Set([...initContainers, ...containers].map(({ name }) => name));
  const { initContainerStatuses = [], containerStatuses = [] } = pod?.status ?? {};
  return [...initContainerStatuses, ...containerStatuses].filter(({ name }) => asked.has(name));
}

/**
 * Whether all that the Job asked for has ended well, and only what something put into its pod keeps it: a Job ends with
 * the last container, and at its deadline the pod goes, with the word of ours.
 */
export function isKept({ spec }: Job, pod: Pod | undefined): boolean {
  const asked = new Set(spec.template.spec.containers.map(({ name }) => name));
  const containers = pod?.status?.containerStatuses ?? [];
  const ours = containers.filter(({ name }) => asked.has(name));
  const isOver = ours.length === asked.size && ours.every(({ state }) => state?.terminated?.exitCode === 0);
  return isOver && containers.some(({ name, state }) => !asked.has(name) && !state?.terminated);
}
