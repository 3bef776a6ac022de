import { EgressError } from '../../manifests/egress/egress.ts';
import { codeOf, isUntrusted, proxyProblem } from '../net/connection-codes.ts';
import { ForgeError } from './error.ts';

/** What a failure below HTTP means. The lower layers' messages repeat addresses and are not for people. */
export function unreachable(origin: string, cause: unknown): ForgeError {
  if (cause instanceof EgressError) return new ForgeError(cause.reason, cause.message, { cause });
  const code = codeOf(cause);
  const refused = proxyProblem(cause);
  if (refused) return new ForgeError('ProxyRefused', `${origin} cannot be reached: ${refused}`, { cause });
  if (isUntrusted(code)) {
    return new ForgeError(
      'CertificateNotTrusted',
      `the certificate of ${origin} is not trusted (${code}): put the authority's certificate as ca.crt into the Secret that forge.secretName names`,
      { cause },
    );
  }
  return new ForgeError('ForgeUnreachable', `${origin} cannot be reached (${code ?? 'connection failed'})`, { cause });
}
