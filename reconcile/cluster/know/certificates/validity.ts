import { parseDuration } from '../../../../manifests/api/duration.ts';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { tlsDefaults } from '../../../../manifests/api/spec-defaults.ts';

/**
 * When certificates made in this step begin and end: ISO 8601, decided from the observation, so that a takeover makes
 * the same.
 */
export interface Validity {
  readonly notBefore: string;
  readonly leafNotAfter: string;
  readonly authorityNotAfter: string;
}

/** Clocks differ by minutes: a certificate that is valid from now on is not valid yet for some members. */
export const skew = 5 * 60_000;

export function validityFrom(tls: EtcdClusterSpec['tls'], at: Date): Validity {
  const after = (duration: string) => new Date(at.getTime() + parseDuration(duration)).toISOString();
  return {
    notBefore: new Date(at.getTime() - skew).toISOString(),
    leafNotAfter: after(tls?.certificateLifetime ?? tlsDefaults.certificateLifetime),
    authorityNotAfter: after(tls?.managed?.authorityLifetime ?? tlsDefaults.authorityLifetime),
  };
}
