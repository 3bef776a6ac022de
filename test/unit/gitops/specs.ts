/** A good spec as people write it; `change` edits its text. */
export function specText(name: string, options: { namespace?: string; extra?: string } = {}): string {
  const { namespace = 'payments', extra = '' } = options;
  return `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdCluster
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  replicas: 3
  version: 3.6.16
  storage: {size: 8Gi}
  tls: {mode: Disabled}
${extra}`;
}
