import type { CertificateFacts } from '../../../reconcile/x509/facts.ts';
import type { LeafFacts, SecretData } from '../../../reconcile/x509/inspect.ts';

/** What a member shows, and whom it trusts, at one of its two ports. */
export interface Port {
  readonly secretName: string;
  /** Read once. */
  readonly trusts: readonly CertificateFacts[];
  /** The files as they are now. */
  files: SecretData;
}

export interface MemberTls {
  readonly peer: Port;
  readonly server: Port;
  /** Absent: it refuses none. */
  readonly revocations?: Revocations;
  /** DNS names that it asks of a leaf, one of each list. An empty list: it asks for none. */
  readonly allowed: { readonly peers: readonly string[]; readonly clients: readonly string[] };
}

export interface Revocations {
  readonly configMapName: string;
  /** The file as it is now, in base64. */
  list: string;
}

/** One end of a connection. */
export interface Party {
  readonly shows: LeafFacts | undefined;
  readonly trusts: readonly CertificateFacts[];
}
