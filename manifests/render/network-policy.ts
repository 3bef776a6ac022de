import type { EtcdCluster } from '../api/etcd-cluster.ts';
import { existingOf } from '../api/existing-cluster.ts';
import type { NetworkSource } from '../api/network-policy.ts';
import { networkPolicyDefaults } from '../api/spec-defaults.ts';
import type { NetworkPolicy } from '../kube-types.ts';
import { hashOf } from './inputs-hash.ts';
import { annotations, labels, labelsOf, networkPolicyName, podSelector, ports } from './names.ts';
import { ownerReference } from './owner-reference.ts';

type Selector = NonNullable<NetworkSource['podSelector']>;
type Rule = NetworkPolicy['spec']['ingress'][number];

/**
 * Limits who reaches the pods of a cluster; Jobs of recoveries, restores and backups are reached by none. Egress stays
 * open. The peer port is for members, also of a cluster that is taken over, and for etcd-ratchet, which looks at
 * certificates. The client port is open unless the spec limits it: clients of other namespaces prove their identity.
 */
export function networkPolicy(cluster: EtcdCluster): NetworkPolicy {
  const { name, namespace, uid } = cluster.metadata;
  const spec = specOf(cluster);
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: networkPolicyName(name),
      ...(namespace !== undefined && { namespace }),
      labels: labelsOf(name),
      annotations: { [annotations.inputsHash]: hashOf({ name, owner: uid, spec }) },
      ownerReferences: [ownerReference('EtcdCluster', cluster)],
    },
    spec,
  };
}

export function isIsolated({ spec }: Pick<EtcdCluster, 'spec'>): boolean {
  return (spec.networkPolicy?.mode ?? networkPolicyDefaults.mode) === 'Enabled';
}

function specOf(cluster: EtcdCluster): NetworkPolicy['spec'] {
  const { name } = cluster.metadata;
  const { networkPolicy: settings = {} } = cluster.spec;
  const { clients, monitoring = [{ namespaceSelector: { matchLabels: { [labels.monitoring]: 'true' } } }] } = settings;
  const members = { podSelector: { matchLabels: podSelector(name) } };
  // Members that are taken over exchange everything with ours, for as long as the spec or the status names them.
  const others = existingOf(cluster);
  const existing = others ? [{ podSelector: { matchLabels: others.podLabels } }] : [];
  const backups = { podSelector: { matchLabels: { ...ofCluster(name), [labels.name]: 'etcd-backup' } } };
  return {
    podSelector: { matchLabels: ofCluster(name) },
    policyTypes: ['Ingress'],
    ingress: [
      to(ports.peer, [members, ...existing, ...ratchet]),
      to(ports.client, clients && [members, ...ratchet, backups, ...clients.map(sourceOf)]),
      // Without a quorum, a member that was started anew answers only there.
      to(ports.metrics, [...monitoring.map(sourceOf), ...ratchet]),
    ],
  };
}

/** On every pod of a cluster, those of its backups included. */
function ofCluster(name: string): Readonly<Record<string, string>> {
  return { [labels.managedBy]: 'etcd-ratchet', [labels.instance]: name };
}

/** Invocations and the page: in the labelled namespace of an installation, or beside the cluster if namespaced. */
const ours = { matchLabels: { [labels.name]: 'etcd-ratchet' } };
const ratchet = [{ podSelector: ours }, { namespaceSelector: ours, podSelector: ours }];

function to(port: number, from: Rule['from']): Rule {
  return { ports: [{ protocol: 'TCP', port }], ...(from && { from }) };
}

/** As the API server stores it, which leaves empty lists and maps out: it is compared with that. */
function sourceOf({ podSelector: pods, namespaceSelector: namespaces, ipBlock }: NetworkSource): NetworkSource {
  return {
    ...(pods && { podSelector: selectorOf(pods) }),
    ...(namespaces && { namespaceSelector: selectorOf(namespaces) }),
    ...(ipBlock && { ipBlock: { cidr: ipBlock.cidr, ...(ipBlock.except?.length && { except: ipBlock.except }) } }),
  };
}

function selectorOf({ matchLabels, matchExpressions }: Selector): Selector {
  const expressions = matchExpressions?.map(({ key, operator, values }) => ({
    key,
    operator,
    ...(values?.length && { values }),
  }));
  return {
    ...(matchLabels && Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(expressions?.length && { matchExpressions: expressions }),
  };
}
