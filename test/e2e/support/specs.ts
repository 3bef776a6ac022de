/** The YAML of one cluster, as a person would write it. */
export function clusterYaml(name: string, namespace: string, fields: Readonly<Record<string, unknown>> = {}): string {
  const spec = { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, ...fields };
  return [
    'apiVersion: etcd.ratchet.dev/v1alpha1',
    'kind: EtcdCluster',
    `metadata: {name: ${name}, namespace: ${namespace}}`,
    // JSON is YAML: the last line takes whatever a scenario wants to say.
    `spec: ${JSON.stringify(spec)}`,
    '',
  ].join('\n');
}
