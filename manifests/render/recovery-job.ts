import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { Container, Job, ResourceRequirements } from '../kube-types.ts';
import { dataDirectory, isolatedArgs } from './etcd-args.ts';
import { memberJob } from './member-job.ts';
import { resourcesOf } from './member-resources.ts';
import { dataVolume, etcdContainer, recoveryContainers, recoveryJobName, recoveryPodLabels } from './names.ts';
import { type NewLife, newLifeDeadline, newLifeSpec } from './new-life.ts';
import { dataMountPath, type Offered, podTemplate } from './pod-template.ts';
import { isolatedReadiness } from './probes.ts';
import { restrictedRights } from './restricted.ts';

/** What the init container that keeps a copy of the data says when it fails. */
export const setAsideCodes = { noRoom: 3, ranAlready: 4, noData: 5 } as const;

export interface RecoveryOrder {
  /** etcd-ratchet's own: etcd's image has neither shell nor `cp`. */
  readonly image: string;
  readonly id: string;
  readonly attempt: number;
  /** A person has said that it may be done without. */
  readonly withoutCopy: boolean;
  /** The new life that it makes of a copy of the data. Absent: they are forced where they are, and go by their ID. */
  readonly begins?: NewLife | undefined;
}

/**
 * A new life, made of a copy of a member's data ({@link newLifeSpec}); or the member's own pod, once, with
 * `--force-new-cluster`: it keeps data, ID and name, and forgets all others. Only its kubelet reaches it: no member
 * joins and no client writes until it runs without the flag. Kubernetes never repeats it: first a step must see that no
 * client was let in. Its variables are sealed, so on an empty volume it exits.
 */
export function recoveryJob(peer: EtcdPeer, order: RecoveryOrder, offered?: Offered): Job {
  const { metadata, spec } = podTemplate(peer, offered);
  const { id, attempt, begins } = order;
  const of = {
    name: recoveryJobName(peer.metadata.name),
    id,
    attempt,
    podLabels: recoveryPodLabels(peer.spec.clusterName),
  };
  if (begins) {
    const made = newLifeSpec(spec, peer, { ...order, ...begins });
    return memberJob(peer, metadata, { ...of, spec: made, activeDeadlineSeconds: newLifeDeadline });
  }
  const etcd = spec.containers.find((container) => container.name === etcdContainer);
  // No sidecars: they would only keep the pod from ending.
  const containers = etcd ? [isolated(etcd, peer)] : [];
  const resources = resourcesOf(spec.containers, spec.resources);
  const initContainers = [...(spec.initContainers ?? []), setAside(order, resources)];
  return memberJob(peer, metadata, { ...of, spec: { ...spec, initContainers, containers } });
}

/** No liveness probe, since a database that does not come up is not restarted; it is done when it leads itself. */
function isolated({ livenessProbe: _, lifecycle: __, ...etcd }: Container, peer: EtcdPeer): Container {
  return { ...etcd, args: isolatedArgs(peer), readinessProbe: isolatedReadiness() };
}

function setAside({ image, id, attempt, withoutCopy }: RecoveryOrder, resources: ResourceRequirements): Container {
  return {
    name: recoveryContainers.setAside,
    image,
    command: ['node', '/app/set-aside.js'],
    args: [
      `--data=${dataDirectory}`,
      `--recovery=${id}`,
      `--attempt=${attempt}`,
      ...(withoutCopy ? ['--without-copy'] : []),
    ],
    resources,
    volumeMounts: [{ name: dataVolume, mountPath: dataMountPath }],
    securityContext: { ...restrictedRights, readOnlyRootFilesystem: true },
  };
}
