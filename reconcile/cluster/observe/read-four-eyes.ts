import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { annotations, labels } from '../../../manifests/render/names.ts';
import { refusedApprovals } from '../../fleet/four-eyes.ts';
import { isMarked, keyOf, ownerOf } from '../../fleet/names.ts';
import { isReason, type Kube, resources } from '../../interfaces/kube.ts';
import { approvalsGiven, type RefusedApproval } from '../../objects/approvals.ts';

/**
 * Approvals of this cluster that do not count, by the fleets that applied it. Those are read anew: which commit they
 * apply may have changed since they were listed. Nothing is read where nothing is approved.
 *
 * @param fleets as listed: an editor of the cluster can take the label away, and the inventory still has it
 * @param unread what counts where a fleet may not be read: to a plan all approvals do, to a step none
 * @throws {KubeError}
 */
export async function readFourEyes(
  kube: Kube,
  cluster: EtcdCluster,
  { fleets, unread }: { readonly fleets: readonly EtcdFleet[]; readonly unread: 'all' | 'none' },
  signal: AbortSignal,
): Promise<readonly RefusedApproval[]> {
  if (approvalsGiven(cluster).length === 0) return [];
  const { uid } = cluster.metadata;
  const listed = fleets.filter(
    (fleet) => isMarked(fleet, cluster) || fleet.status?.inventory?.some((entry) => entry.uid === uid),
  );
  const keys = new Set([...listed.map(keyOf), ...(namedBy(cluster) ?? [])]);
  const read = await Promise.all(
    [...keys].map(async (key) => {
      const [namespace, name = ''] = key.split('/');
      try {
        const fleet = await kube.get<EtcdFleet>(resources.fleets, namespace, name, { signal });
        return fleet ? refusedApprovals(cluster, fleet) : [];
      } catch (error) {
        if (!isReason(error, 'Forbidden')) throw error;
        return unread === 'all' ? [] : approvalsGiven(cluster).map((given) => ({ ...given, ...unreadable(key) }));
      }
    }),
  );
  return read.flat();
}

function unreadable(key: string): Pick<RefusedApproval, 'why' | 'cure'> {
  return {
    why: `EtcdFleet ${key} may not be read, so it is not known whether the author gave it`,
    cure: `let etcd-ratchet read it, or remove the label ${labels.fleet}, if that fleet has nothing to do with this cluster`,
  };
}

/** As its fleet wrote it: that one may be in a namespace of which no list has anything now. */
function namedBy(cluster: EtcdCluster): readonly string[] | undefined {
  const key = cluster.metadata.annotations?.[annotations.fleetName];
  return ownerOf(cluster) !== undefined && key !== undefined && /^[^/]+\/[^/]+$/.test(key) ? [key] : undefined;
}
