import type { KubeObject } from '../../../interfaces/kube.ts';

/**
 * Fields of a Service or budget that open or close something and that we never set. Others may add all other fields:
 * addresses, families, ports of nodes and defaults of a newer API server.
 */
const notByOthers: Readonly<Record<string, readonly string[]>> = {
  Service: ['publishNotReadyAddresses', 'externalIPs'],
  PodDisruptionBudget: ['maxUnavailable'],
};

type WithSpec = KubeObject & { readonly spec: object };

/** The spec as it was found, without what others may not add to it. */
export function withoutOthers<T extends WithSpec>({ spec }: T, wanted: WithSpec): T['spec'] {
  const taken = takenFrom(wanted);
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !taken.includes(field))) as T['spec'];
}

export function hasFieldsOfOthers({ spec }: WithSpec, wanted: WithSpec): boolean {
  const fields: Readonly<Record<string, unknown>> = { ...spec };
  return takenFrom(wanted).some((field) => fields[field] !== undefined && fields[field] !== false);
}

function takenFrom({ kind = '', spec }: WithSpec): readonly string[] {
  return (notByOthers[kind] ?? []).filter((field) => !(field in spec));
}
