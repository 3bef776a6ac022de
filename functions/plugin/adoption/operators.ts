/** Operators whose clusters are taken over, by the API group of what owns their pods: each repairs its member list. */
export const operators: ReadonlyMap<string, string> = new Map([
  ['operator.etcd.io', 'etcd-io/etcd-operator'],
  ['etcd-operator.cozystack.io', 'cozystack/etcd-operator'],
  ['etcd.aenix.io', 'aenix-io/etcd-operator'],
  ['etcd.improbable.io', 'improbable-eng/etcd-cluster-operator'],
]);

/** Of the operator whose resource this is, like `operator.etcd.io/v1alpha1`. */
export function operatorOf(apiVersion: string): string | undefined {
  return operators.get(apiVersion.split('/')[0] ?? '');
}
