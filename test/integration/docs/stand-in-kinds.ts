export function pluralOf(kind: string): string {
  return `${kind.toLowerCase()}s`;
}

/** The definition of a kind of another project that takes any field: another test judges the fields. */
export function standIn(group: string, kind: string): object {
  const plural = pluralOf(kind);
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}
