import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { annotations } from '../../manifests/render/names.ts';
import { isReason, resources } from '../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../reconcile/objects/conditions.ts';
import type { Asked } from './command.ts';

/** The part of Git in a cluster's state, as its fleet knows it. */
export interface Origin {
  /** `<namespace>/<name>` */
  readonly fleet: string;
  /** The revision that was verified last, where the fleet asks for signatures. */
  readonly verified?: { readonly revision: string; readonly signedBy: string; readonly key: string };
  /** Why nothing newer is applied. */
  readonly problem?: { readonly reason: string; readonly message: string };
}

/** `undefined`: no fleet applied it, or this person may not read that fleet. */
export async function originOf(
  { metadata }: EtcdCluster,
  { kube, stop }: Pick<Asked, 'kube' | 'stop'>,
): Promise<Origin | undefined> {
  const [namespace, name] = metadata.annotations?.[annotations.fleetName]?.split('/') ?? [];
  if (!namespace || !name) return undefined;
  const fleet = await kube
    .get<EtcdFleet>(resources.fleets, namespace, name, { signal: stop })
    .catch((error: unknown) => {
      if (isReason(error, 'Forbidden')) return undefined;
      throw error;
    });
  // The annotation proves nothing: every editor of the cluster can write it.
  if (!fleet?.status?.inventory?.some(({ uid }) => uid === metadata.uid)) return undefined;
  const { verification } = fleet.status;
  const source = conditionOf(fleet.status, 'SourceReady');
  return {
    fleet: `${namespace}/${name}`,
    ...(verification && {
      verified: { revision: verification.revision, signedBy: verification.signedBy, key: verification.key },
    }),
    ...(source?.status === 'False' && { problem: { reason: source.reason, message: source.message } }),
  };
}

/** For a person; empty where there is nothing to say. */
export function originLines({ fleet, verified, problem }: Origin): readonly string[] {
  return [
    ...(problem ? [`fleet ${fleet}: ${problem.reason}: ${problem.message}`] : []),
    ...(verified
      ? [`fleet ${fleet}: ${verified.revision} was verified, signed by ${verified.signedBy} (${verified.key})`]
      : []),
  ];
}
