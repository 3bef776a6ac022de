import type { KubeObject } from '../interfaces/kube.ts';

/** An entry of `metadata.managedFields`: which fields a manager set, and how. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

export function managedFieldsOf(object: KubeObject): readonly ManagedFields[] {
  const metadata: KubeObject['metadata'] & { readonly managedFields?: readonly ManagedFields[] } = object.metadata;
  return metadata.managedFields ?? [];
}

/** The API server makes it from the first word of our user agent. */
const ours = 'etcd-ratchet';

const most = 3;

/**
 * Which other clients set fields of its spec, in words, the latest first. For messages only: a client names itself as
 * it likes, and a field that was taken away has no manager.
 */
export function otherHandsOn(object: KubeObject): string {
  const others = managedFieldsOf(object)
    .filter(({ manager, subresource, fieldsV1 }) => manager !== ours && subresource !== 'status' && isOfSpec(fieldsV1))
    .toSorted((a, b) => Date.parse(b.time ?? '') - Date.parse(a.time ?? ''))
    .map(plainManager);
  const names = [...new Set(others)].slice(0, most);
  return names.length === 0 ? 'another client' : names.join(', ');
}

/** A manager's name as a message may have it: a client names itself as it likes. */
export function plainManager({ manager = '', subresource }: ManagedFields): string {
  return `${plain(manager)}${subresource ? ` (${plain(subresource)})` : ''}`;
}

function isOfSpec(fields: unknown): boolean {
  return typeof fields === 'object' && fields !== null && 'f:spec' in fields;
}

function plain(name: string): string {
  return plainWord(name) || 'a client without a name';
}

/** A name that another client chose, as one word of a message. */
export function plainWord(name: string, longest = 63): string {
  return name.replaceAll(/[^\w./:-]/g, '').slice(0, longest);
}
