import { memberPriorityClass } from '../../../manifests/render/member-defaults.ts';
import type { Offered } from '../../../manifests/render/pod-template.ts';
import { isReason, type Kube, resources } from '../../interfaces/kube.ts';

/**
 * What the installation has for members, as it is now. A pod whose priority class is not there is refused, and an
 * installation for one namespace has none, nor the right to look: there, members are made without.
 */
export async function offeredToMembers({
  kube,
  signal,
}: {
  readonly kube: Kube;
  readonly signal: AbortSignal;
}): Promise<Offered> {
  try {
    const found = await kube.get(resources.priorityClasses, undefined, memberPriorityClass, { signal });
    return found && found.metadata.deletionTimestamp === undefined ? { priorityClassName: memberPriorityClass } : {};
  } catch (error) {
    if (isReason(error, 'Forbidden')) return {};
    throw error;
  }
}
