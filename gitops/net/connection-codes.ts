import { EgressError } from '../../manifests/egress/egress.ts';

const untrusted = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_UNTRUSTED',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** A failure below HTTP that a person can mend. The lower layers' messages repeat addresses and are not for people. */
export function connectionProblem(address: string, cause: unknown, secretField: string) {
  if (cause instanceof EgressError) return { reason: cause.reason, message: cause.message };
  const refused = proxyProblem(cause);
  if (refused) return { reason: 'ProxyRefused', message: `${address} cannot be reached: ${refused}` } as const;
  const code = codeOf(cause);
  if (code === undefined || !untrusted.has(code)) return undefined;
  return {
    reason: 'CertificateNotTrusted',
    message: `the certificate of ${address} is not trusted (${code}): put the authority's certificate as ca.crt into the Secret that ${secretField} names`,
  } as const;
}

/** The system's own short code. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** What the proxy has against us, if it is the proxy; without its address, which may hold a password. */
function proxyProblem(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === 'ERR_PROXY_INVALID_CONFIG' && error instanceof Error) return error.message;
  if (code !== 'ERR_PROXY_TUNNEL') return undefined;
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 407)
    return 'the proxy rejects our credentials (HTTP 407): put the right ones into the URL in HTTPS_PROXY';
  if (error instanceof Error && 'proxyTunnelTimeout' in error)
    return 'the proxy that HTTPS_PROXY names does not answer: check its address, or list the host in NO_PROXY';
  const said = typeof status === 'number' ? ` (HTTP ${status})` : '';
  return `the proxy that HTTPS_PROXY names does not let us through${said}: allow the host there, or list it in NO_PROXY`;
}
