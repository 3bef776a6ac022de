import type { Pod } from '../../../../manifests/kube-types.ts';
import type { MountsView, Observation, PodView, Slot } from '../observation.ts';

/** What kubelet must have before any container of a pod starts. */

/** When it got its node, and whether kubelet has a sandbox for it: kubelet mounts all volumes before that. */
export function sandboxOf({ spec, status }: Pod): Pick<PodView, 'hasSandbox' | 'scheduledAt'> {
  const said = status?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')?.status;
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  // Written by the API server when it binds a pod to its node.
  const at =
    scheduled?.status === 'True' && spec.nodeName !== undefined ? Date.parse(scheduled.lastTransitionTime ?? '') : NaN;
  return {
    ...((said === 'True' || said === 'False') && { hasSandbox: said === 'True' }),
    ...(!Number.isNaN(at) && { scheduledAt: new Date(at) }),
  };
}

/** Volumes that need no other object. */
const own: ReadonlySet<string> = new Set(['emptyDir', 'downwardAPI']);

export function mountsOf({ metadata, spec }: Pod): MountsView {
  const claim = metadata.name.replace(/-0$/, '');
  const secrets: string[] = [];
  let others = false;
  for (const volume of spec.volumes ?? []) {
    const [kind = '', ...more] = Object.keys(volume).filter((key) => key !== 'name');
    if (more.length === 0 && own.has(kind)) continue;
    if (volume.persistentVolumeClaim?.claimName === claim) continue;
    if (volume.secret?.secretName !== undefined) secrets.push(volume.secret.secretName);
    else others = true;
  }
  return { secrets, others };
}

/** Everything that it mounts beside its own volume was seen to exist. Unknown counts as no. */
export function mountsAreThere({ pod }: Slot, { certificates }: Pick<Observation, 'certificates'>): boolean {
  if (!pod?.mounts || pod.mounts.others) return false;
  const leaves = certificates.kind === 'read' ? certificates.leaves : [];
  return pod.mounts.secrets.every((name) =>
    leaves.some(({ plan, state, facts }) => plan.secretName === name && state === 'ours' && facts !== undefined),
  );
}
