import type { EtcdCluster } from '../api/etcd-cluster.ts';
import type { Service } from '../kube-types.ts';
import { hashOf } from './inputs-hash.ts';
import { annotations, clientServiceName, headlessServiceName, labelsOf, podSelector, ports } from './names.ts';
import { ownerReference } from './owner-reference.ts';

/** Gives every pod its name in DNS, even before it is Ready: members need these names in order to become Ready. */
export function headlessService(cluster: EtcdCluster): Service {
  return service(cluster, headlessServiceName(cluster.metadata.name), {
    type: 'ClusterIP',
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: podSelector(cluster.metadata.name),
    ports: [
      { name: 'client', port: ports.client, targetPort: 'client', protocol: 'TCP' },
      { name: 'peer', port: ports.peer, targetPort: 'peer', protocol: 'TCP' },
      { name: 'metrics', port: ports.metrics, targetPort: 'metrics', protocol: 'TCP' },
    ],
  });
}

/** Where clients connect. Ready voters only: `/readyz` fails for learners from 3.5.19 on, our oldest version. */
export function clientService(cluster: EtcdCluster): Service {
  return service(cluster, clientServiceName(cluster.metadata.name), {
    type: 'ClusterIP',
    selector: podSelector(cluster.metadata.name),
    ports: [{ name: 'client', port: ports.client, targetPort: 'client', protocol: 'TCP' }],
  });
}

/** A new Service gets an address of each family of the Kubernetes cluster. An existing one keeps its owner's choice. */
export function inEachFamily(made: Service): Service {
  return { ...made, spec: { ...made.spec, ipFamilyPolicy: 'PreferDualStack' } };
}

export function service(cluster: EtcdCluster, name: string, spec: Service['spec']): Service {
  const { name: clusterName, namespace } = cluster.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: labelsOf(clusterName),
      // The name is all that a Service follows from; the owner's UID tells a re-created cluster's Service from its own.
      annotations: { [annotations.inputsHash]: hashOf({ name, owner: cluster.metadata.uid }) },
      ownerReferences: [ownerReference('EtcdCluster', cluster)],
    },
    spec,
  };
}
