import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { Job, PodSpec } from '../kube-types.ts';
import { dataDirectory } from './etcd-args.ts';
import { memberJob } from './member-job.ts';
import { resourcesOf, smallerResources } from './member-resources.ts';
import { dataVolume, logJobName, logPodLabels } from './names.ts';
import { dataMountPath, type Offered, podTemplate } from './pod-template.ts';
import { restrictedRights } from './restricted.ts';

export interface LogOrder {
  /** etcd-ratchet's own. */
  readonly image: string;
  /** In which situation it is read: a hash. */
  readonly situation: string;
  /** Where the member's pod is: a disk that only one node at a time may have is there. */
  readonly node?: string | undefined;
}

export const logJobContainer = 'read-log';
/** From its start, in seconds: the pod must find room, and its image. */
export const logDeadline = 180;
/** So long its answer is read; then the log is read anew. Seconds. */
const ttl = 3600;

/**
 * Reads the log on a member's disk, also while its etcd runs. The volume is mounted read-only, and the pod has the
 * rights of the member's, so that kubelet gives its files to no other group. It ends, and is deleted, by itself.
 */
export function logJob(peer: EtcdPeer, { image, situation, node }: LogOrder, offered?: Offered): Job {
  const { metadata, spec } = podTemplate(peer, offered);
  const resources = smallerResources(resourcesOf(spec.containers, spec.resources));
  // Nothing of a template that would write, or keep the pod from the member's node.
  const { initContainers: _, affinity: __, topologySpreadConstraints: ___, resources: ofPod, ...rest } = spec;
  return memberJob(peer, metadata, {
    name: logJobName(peer.metadata.name, situation),
    id: situation,
    attempt: 1,
    podLabels: logPodLabels(peer.spec.clusterName),
    activeDeadlineSeconds: logDeadline,
    ttlSecondsAfterFinished: ttl,
    spec: {
      ...rest,
      // A template may ask kubelet to go through all files at each start.
      securityContext: { ...rest.securityContext, fsGroupChangePolicy: 'OnRootMismatch' },
      ...(ofPod && { resources }),
      ...(node !== undefined && on(node, rest)),
      containers: [
        {
          name: logJobContainer,
          image,
          command: ['node', '/app/read-log.js'],
          args: [`--data=${dataDirectory}`],
          resources: ofPod ? {} : resources,
          volumeMounts: [{ name: dataVolume, mountPath: dataMountPath, readOnly: true }],
          securityContext: { ...restrictedRights, readOnlyRootFilesystem: true },
        },
      ],
      volumes: [{ name: dataVolume, persistentVolumeClaim: { claimName: peer.metadata.name } }],
    },
  });
}

/** By the scheduler, which knows what is free there; also on a node that is cordoned. */
function on(node: string, { tolerations }: Pick<PodSpec, 'tolerations'>): Pick<PodSpec, 'affinity' | 'tolerations'> {
  const cordoned = { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' };
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }];
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    tolerations: [...(tolerations ?? []), cordoned],
  };
}
