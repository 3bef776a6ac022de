import { memberPriorityClass } from '../../../manifests/render/member-defaults.ts';
import type { Offered } from '../../../manifests/render/pod-template.ts';
import { isReason, type Kube, resources } from '../../interfaces/kube.ts';

interface Asking {
  readonly kube: Kube;
  readonly signal: AbortSignal;
}

/** What the installation has for members: asked for when it is first needed, and once. */
export function offeredToMembers(asking: Asking): () => Promise<Offered> {
  let asked: Promise<Offered> | undefined;
  return () => {
    asked ??= look(asking);
    return asked;
  };
}

/**
 * A pod whose priority class is not there is refused, and an installation for one namespace has none, nor the right to
 * look: there, members are made without.
 */
async function look({ kube, signal }: Asking): Promise<Offered> {
  try {
    const found = await kube.get(resources.priorityClasses, undefined, memberPriorityClass, { signal });
    return found && found.metadata.deletionTimestamp === undefined ? { priorityClassName: memberPriorityClass } : {};
  } catch (error) {
    if (isReason(error, 'Forbidden')) return {};
    throw error;
  }
}
