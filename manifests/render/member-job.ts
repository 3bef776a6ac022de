import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { Job, PodSpec, PodTemplateSpec } from '../kube-types.ts';
import { jobMetadata } from './job-pods.ts';
import { annotations, labels, peerLabels } from './names.ts';
import { ownerReference } from './owner-reference.ts';

interface MemberJob {
  readonly name: string;
  readonly id: string;
  readonly attempt: number;
  /** By which its pod is found. */
  readonly podLabels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  /** Absent: steps end it. */
  readonly activeDeadlineSeconds?: number;
  /** Absent: a step deletes it. */
  readonly ttlSecondsAfterFinished?: number;
}

/**
 * A Job on a member's volume, owned by its peer. Kubernetes never restarts or repeats it: steps decide on each attempt.
 * @param metadata of the member's own pods
 */
export function memberJob(
  peer: EtcdPeer,
  metadata: PodTemplateSpec['metadata'],
  { name, id, attempt, podLabels, spec, ...bounds }: MemberJob,
): Job {
  const { namespace } = peer.metadata;
  // A StatefulSet adopts a pod that bears its labels and has no owner.
  const { [labels.peer]: _, ...given } = metadata.labels;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: peerLabels(peer.spec.clusterName, peer.metadata.name),
      annotations: { [annotations.recovery]: `${id}/${attempt}` },
      ownerReferences: [ownerReference('EtcdPeer', peer)],
    },
    spec: {
      backoffLimit: 0,
      ...bounds,
      template: {
        metadata: jobMetadata(podLabels, {}, { ...metadata, labels: given }),
        spec: { ...spec, restartPolicy: 'Never' },
      },
    },
  };
}
