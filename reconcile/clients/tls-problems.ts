import type { TlsProblem } from '../interfaces/etcd.ts';

/** What Node, OpenSSL, gRPC or a probe said about a handshake, classified once. */
export interface TlsFinding {
  readonly problem: TlsProblem;
  /** Their words, without addresses of memory, files of OpenSSL and times, which would differ at every attempt. */
  readonly detail: string;
  /** True when the handshake did not get as far as a request: the other side can not have read one. */
  readonly unread: boolean;
}

/** The parties of the handshake, for the sentence. */
export interface TlsParties {
  readonly serverName: string;
  /** When our own certificate is valid, in words; none without one. */
  readonly ours?: string | undefined;
}

/**
 * In this order: an alert about a certificate is the member's verdict on ours; the same words without an alert are our
 * verdict on the member's. gRPC gives only a message, so words decide; the codes are those of node:tls.
 */
const verdicts: readonly (readonly [RegExp, TlsProblem])[] = [
  [
    /alert (certificate (required|expired|revoked|unknown)|unknown ca|(bad|unsupported) certificate|access denied)/i,
    'ClientCertificateRefused',
  ],
  [/certificate has expired|CERT_HAS_EXPIRED/, 'CertificateExpired'],
  [/certificate is not yet valid|CERT_NOT_YET_VALID/, 'CertificateNotYetValid'],
  [/ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/, 'NameMismatch'],
  [
    /unable to verify the first certificate|unable to get (local )?issuer certificate|self[- ]signed certificate|certificate signature failure|invalid CA certificate|path length constraint|issuer mismatch|certificate not trusted|certificate rejected/i,
    'WrongAuthority',
  ],
  [
    /UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|SELF_SIGNED_CERT|CERT_SIGNATURE_FAILURE|INVALID_CA|PATH_LENGTH_EXCEEDED|CERT_UNTRUSTED|CERT_REJECTED/,
    'WrongAuthority',
  ],
  [/un(suitable|supported) certificate purpose|INVALID_PURPOSE/, 'HandshakeFailed'],
  [
    /wrong version number|packet length too long|SSL routines:[^:]*:(http request|unknown protocol)/,
    'PlaintextOnTlsPort',
  ],
];

/** Of these it is not known at which point of a connection they were said. */
const other = /SSL routines|tlsv1|sslv3|SSL alert|ERR_SSL_|ERR_TLS_/i;

export function tlsProblemIn(words: string): TlsFinding | undefined {
  const problem = verdicts.find(([pattern]) => pattern.test(words))?.[1];
  if (problem !== undefined) return { problem, detail: detailOf(words), unread: true };
  return other.test(words) ? { problem: 'HandshakeFailed', detail: detailOf(words), unread: false } : undefined;
}

/** An endpoint that hangs up without a word may speak TLS where plaintext was expected, or the other way round. */
export function mayHideTls(words: string): boolean {
  return /ECONNRESET|EPIPE|socket hang up|Socket closed|Failed to connect|Connection closed before|disconnected before secure/.test(
    words,
  );
}

/** Which side presented what, and what would cure it. */
export function sentenceFor({ problem, detail }: TlsFinding, { serverName, ours }: TlsParties): string {
  switch (problem) {
    case 'CertificateExpired':
      return 'it presented a certificate that has expired: have it renewed, and see that the member reads the new one (no restart is needed)';
    case 'CertificateNotYetValid':
      return 'it presented a certificate that is not valid yet: compare the clocks of its issuer and of this process, or wait';
    case 'WrongAuthority':
      return `it presented a certificate that no authority in our ca.crt has signed (${detail}): reissue it, or add its authority to ca.crt`;
    case 'NameMismatch':
      return `it presented a certificate that is not for ${serverName} (${detail}): reissue it with that DNS name`;
    case 'ClientCertificateRefused':
      return refusal(detail, ours);
    case 'PlaintextOnTlsPort':
      return 'it answers in plaintext where TLS is expected: it runs without TLS, or something else listens there';
    case 'TlsOnPlaintextPort':
      return 'it speaks TLS where plaintext is expected: it runs with TLS and must be asked by https';
    case 'HandshakeFailed':
      return `the TLS handshake with it failed (${detail})${failureHint(detail)}`;
  }
}

/** RFC 8446 names the alerts; Go sends "expired" also for what is not valid yet, and "bad" for a use not allowed. */
function refusal(detail: string, ours: string | undefined): string {
  if (ours === undefined)
    return `it wants a client certificate and was given none (${detail}): give us one of its client authority`;
  const refused = `it refused our client certificate (${detail}), which is valid ${ours}`;
  if (/expired/.test(detail)) return `${refused}: renew it, or set right the member's clock`;
  if (/unknown ca/.test(detail))
    return `${refused}: it trusts none of the certificate's authorities, and reads the trusted ones only when it starts; restart it if they changed, or reissue the certificate`;
  return `${refused}: it must be made for client authentication and be one that the member allows`;
}

function failureHint(detail: string): string {
  // Go's server says so when its own certificate can not be had, which etcd reads anew at every handshake.
  if (/internal error/.test(detail)) return ': its own certificate and key can not be read or do not belong together';
  // What a server that speaks TLS 1.2 says of a client without a certificate, among other things.
  if (/handshake failure/.test(detail)) return ': they have no cipher in common, or it wants a client certificate';
  return /purpose/.test(detail) ? ': its certificate must be made for server authentication' : '';
}

function detailOf(words: string): string {
  const openssl = /error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/.exec(words)?.[1];
  if (openssl !== undefined) return openssl.replace(/^(ssl\/tls|tlsv1\d?|sslv3) /, '').trim();
  const last = words.split('Last error: ').at(-1) ?? words;
  return last
    .replace(/^(Error( \[\w+\])?: )+/, '')
    .replace(/^Hostname\/IP does not match certificate's altnames: /, '')
    .replace(/; if the root CA is installed.*$/s, '')
    .replace(/\.? Resolution note:.*$/s, '')
    .slice(0, 300)
    .trim();
}
