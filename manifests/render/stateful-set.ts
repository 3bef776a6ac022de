import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { StatefulSet } from '../kube-types.ts';
import { inputsHash } from './inputs-hash.ts';
import { annotations, headlessServiceName, labels, peerLabels } from './names.ts';
import { ownerReference } from './owner-reference.ts';
import { type Offered, podTemplate } from './pod-template.ts';

/**
 * One member's StatefulSet of one replica: for its promise of at most one pod per data directory. One per member,
 * because membership is ours to decide, not a replica count's. `OnDelete`: only a step rolls a pod.
 */
export function statefulSet(peer: EtcdPeer, offered?: Offered): StatefulSet {
  const { name, namespace } = peer.metadata;
  const { clusterName } = peer.spec;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: peerLabels(clusterName, name),
      annotations: { [annotations.inputsHash]: inputsHash(peer.spec) },
      ownerReferences: [ownerReference('EtcdPeer', peer)],
    },
    spec: {
      replicas: 1,
      serviceName: headlessServiceName(clusterName),
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      revisionHistoryLimit: 2,
      selector: { matchLabels: { [labels.cluster]: clusterName, [labels.peer]: name } },
      template: podTemplate(peer, offered),
    },
  };
}
