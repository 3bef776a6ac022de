/** What DNS names of a spec may be. Apart from the schema, which not every invocation loads. */

/**
 * The names that let a certificate in are below it, and no spec may ask for one. etcd looks names of peers up by DNS:
 * those of this domain never exist there (RFC 6761, 6.4).
 */
export const ownNamesDomain = 'etcd-ratchet.invalid';

/** As Go and CEL read it: no leading zeros. */
export function isIPv4(value: string): boolean {
  return /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)([.](25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/.test(value);
}
