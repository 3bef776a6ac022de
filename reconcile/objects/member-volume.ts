import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { clusterOfVolume, isMemberVolume } from '../../manifests/render/member-volume.ts';
import { type Kube, resources } from '../interfaces/kube.ts';

interface Asked {
  readonly namespace: string | undefined;
  readonly claimName: string;
  /** Names of the clusters in that namespace. */
  readonly clusters: readonly string[];
}

/**
 * Why a PersistentVolumeClaim is no place for backups; `undefined`: no member's data are on it. Judged by its name even
 * if it is missing: the Job would wait, and get the one that is made for a member. @throws {KubeError}
 */
export async function problemOfClaim(
  kube: Kube,
  { namespace, claimName, clusters }: Asked,
  signal: AbortSignal,
): Promise<string | undefined> {
  const cluster = clusterOfVolume(claimName, clusters);
  if (cluster !== undefined) return onMember(claimName, cluster);
  const found = await kube.get<PersistentVolumeClaim>(resources.volumeClaims, namespace, claimName, { signal });
  return found && isMemberVolume(found)
    ? `PersistentVolumeClaim ${claimName} was made for the data of a member of an EtcdCluster`
    : undefined;
}

export function onMember(claimName: string, cluster: string): string {
  return `PersistentVolumeClaim ${claimName} is for the data of a member of EtcdCluster ${cluster}`;
}
