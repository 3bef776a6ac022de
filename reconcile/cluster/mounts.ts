import type { Pod } from '../../manifests/kube-types.ts';
import type { MountsView, Observation, PodView, Slot } from './observation.ts';

/** What kubelet must have before any container of a pod starts. */

/** kubelet waits for all volumes first: only then there is a sandbox. */
export function sandboxOf({ status }: Pod): Pick<PodView, 'hasSandbox'> {
  const said = status?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')?.status;
  return said === 'True' || said === 'False' ? { hasSandbox: said === 'True' } : {};
}

/** Volumes that are there by themselves. */
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

/** Everything that it mounts beside its own volume was seen to be there. Not known is no. */
export function mountsAreThere({ pod }: Slot, { certificates }: Pick<Observation, 'certificates'>): boolean {
  if (!pod?.mounts || pod.mounts.others) return false;
  const leaves = certificates.kind === 'read' ? certificates.leaves : [];
  return pod.mounts.secrets.every((name) =>
    leaves.some(({ plan, state, facts }) => plan.secretName === name && state === 'ours' && facts !== undefined),
  );
}
