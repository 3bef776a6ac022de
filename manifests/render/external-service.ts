import type { EtcdCluster } from '../api/etcd-cluster.ts';
import { externalServiceDefaults } from '../api/spec-defaults.ts';
import type { Service } from '../kube-types.ts';
import { hashOf } from './inputs-hash.ts';
import { annotations, externalServiceName, podSelector, ports } from './names.ts';
import { service } from './services.ts';

/**
 * The Service for clients outside of the Kubernetes cluster: ready voters only. It records the keys that the spec gave
 * it, so that a key that the spec drops is taken away.
 */
export function externalService(cluster: EtcdCluster): Service {
  const { service: given } = cluster.spec;
  const made = service(cluster, externalServiceName(cluster.metadata.name), externalSpec(cluster));
  if (!given) return made;
  const { labels = {}, annotations: noted = {} } = given;
  const keys = JSON.stringify([Object.keys(labels).toSorted(), Object.keys(noted).toSorted()]);
  const hash = hashOf({ name: made.metadata.name, owner: cluster.metadata.uid, given });
  return {
    ...made,
    metadata: {
      ...made.metadata,
      labels: { ...labels, ...made.metadata.labels },
      annotations: { ...noted, [annotations.inputsHash]: hash, [annotations.givenKeys]: keys },
    },
  };
}

function externalSpec({ metadata, spec: { service: given } }: EtcdCluster): Service['spec'] {
  const { type = 'ClusterIP', nodePort, loadBalancerClass, loadBalancerSourceRanges } = given ?? {};
  const policy = given?.externalTrafficPolicy ?? externalServiceDefaults.externalTrafficPolicy;
  return {
    type,
    selector: podSelector(metadata.name),
    ports: [
      {
        ...{ name: 'client', port: ports.client, targetPort: 'client', protocol: 'TCP' },
        ...(nodePort !== undefined && { nodePort }),
      },
    ],
    ...(type !== 'ClusterIP' && { externalTrafficPolicy: policy }),
    ...(loadBalancerClass !== undefined && { loadBalancerClass }),
    ...(loadBalancerSourceRanges !== undefined && { loadBalancerSourceRanges }),
  };
}

/** What was found, made what it should be: what the spec gave it before and gives no more is gone from it. */
export function correctedExternal(found: Service, wanted: Service): Service {
  const [labelsBefore, annotationsBefore] = keysGivenTo(found);
  const { loadBalancerClass: _, loadBalancerSourceRanges: __, externalTrafficPolicy: ___, ...kept } = found.spec;
  return {
    ...found,
    metadata: {
      ...found.metadata,
      labels: { ...without(found.metadata.labels, labelsBefore), ...wanted.metadata.labels },
      annotations: { ...without(found.metadata.annotations, annotationsBefore), ...wanted.metadata.annotations },
    },
    spec: { ...kept, ...wanted.spec },
  };
}

function keysGivenTo({ metadata }: Service): readonly [labels: readonly string[], annotations: readonly string[]] {
  const parts = parsed(metadata.annotations?.[annotations.givenKeys]);
  return [textsOf(parts[0]), textsOf(parts[1])];
}

/** A person may have written into it: what is no list says nothing. */
function parsed(text: string | undefined): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function without(fields: Readonly<Record<string, string>> = {}, keys: readonly string[]) {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));
}
