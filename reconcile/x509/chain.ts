import { X509Certificate } from 'node:crypto';
import { lastAnswers } from '../../manifests/last-answers.ts';
import type { Usage } from '../../manifests/render/certificate-names.ts';
import { rawNamesOf } from './der.ts';
import type { CertificateFacts } from './facts.ts';
import { keyFlawOf } from './keys.ts';

/** Whether a certificate can be verified, as the other end of a TLS connection would do it. */

export interface ChainQuestion {
  readonly leaf: CertificateFacts;
  /** What the holder sends along. */
  readonly intermediates: readonly CertificateFacts[];
  /** What the other end trusts: any of these ends a chain, as in Go, self-signed or not. */
  readonly trust: readonly CertificateFacts[];
  readonly usages: readonly Usage[];
  readonly now: Date;
  readonly skewMs: number;
  /** By fingerprint, what is parsed already: that takes longer than most of what is asked of it. */
  readonly parsed?: ReadonlyMap<string, X509Certificate>;
}

export type Chain =
  /** `endsAt`: when the first certificate of the chain that lasts longest ends. */
  { readonly kind: 'anchored'; readonly endsAt: Date } | { readonly kind: 'adrift'; readonly why: string };

/** Below the trusted one. No real chain is longer, and it bounds the search. */
const maxDepth = 8;

interface Candidate {
  readonly facts: CertificateFacts;
  readonly certificate: X509Certificate;
  readonly names: ReturnType<typeof rawNamesOf>;
  readonly trusted: boolean;
}

/**
 * Looks for a chain from the leaf to a trusted CA; of the leaf's own dates only its end counts, for `endsAt`. Level by
 * level: an issuer's reach depends only on the number of CAs below it, so each level holds every certificate once, and
 * the search stays short.
 */
export function chainOf(question: ChainQuestion): Chain {
  const { leaf, intermediates, trust, parsed } = question;
  const candidateOf = (facts: CertificateFacts, trusted: boolean) => candidate(facts, trusted, parsed);
  const issuers = [
    ...trust.map((facts) => candidateOf(facts, true)),
    ...intermediates.map((facts) => candidateOf(facts, false)),
  ];
  let level = new Map([[leaf.fingerprint, { child: candidateOf(leaf, false), endsAt: leaf.notAfter }]]);
  let best: Date | undefined;
  let why = '';
  for (let below = 0; below < maxDepth && level.size > 0; below++) {
    const next: typeof level = new Map();
    for (const { child, endsAt } of level.values()) {
      const named = issuers.filter(({ names }) => names.subject === child.names.issuer);
      const whose = below === 0 ? 'its issuer' : `the issuer of "${child.facts.subject}",`;
      if (named.length === 0) why = `there is no certificate of ${whose} "${child.facts.issuer}"`;
      for (const issuer of named) {
        const refusal = refusalOf(child, issuer, below, question) ?? verified(child, issuer);
        if (refusal !== undefined) {
          why = `the certificate of ${whose} "${issuer.facts.subject}" ${refusal}`;
          continue;
        }
        const until = earlier(endsAt, issuer.facts.notAfter);
        if (issuer.trusted) {
          best = later(best, until);
          continue;
        }
        const known = next.get(issuer.facts.fingerprint);
        next.set(issuer.facts.fingerprint, { child: issuer, endsAt: later(known?.endsAt, until) });
      }
    }
    level = next;
  }
  return best === undefined ? { kind: 'adrift', why } : { kind: 'anchored', endsAt: best };
}

/** Why this certificate, although of the issuer's name, cannot vouch for the other one. */
function refusalOf(child: Candidate, issuer: Candidate, below: number, question: ChainQuestion): string | undefined {
  const { facts } = issuer;
  const { usages, now, skewMs } = question;
  if (!facts.isAuthority) return 'is not that of a CA';
  if (facts.pathLength !== undefined && facts.pathLength < below) {
    return `allows ${facts.pathLength} CAs below it, but there are ${below}`;
  }
  if (facts.notAfter <= now) return `ended at ${facts.notAfter.toISOString()}`;
  if (facts.notBefore.getTime() > now.getTime() + skewMs) return `begins only at ${facts.notBefore.toISOString()}`;
  const lacking = usages.filter((usage) => !facts.usages.includes(usage));
  if (lacking.length > 0) return `does not allow ${lacking.join(' and ')}`;
  const flaw = keyFlawOf(facts);
  if (flaw !== undefined) return flaw.problem;
  // Go has refused these since 1.18.
  if (/sha1|md[245]/i.test(child.facts.signatureAlgorithm ?? ''))
    return 'signed it with SHA-1 or MD5, which etcd refuses';
  // Go would take it; our own client, which is OpenSSL, would not.
  return child.certificate.checkIssued(issuer.certificate)
    ? undefined
    : 'has another key identifier than the one named';
}

const signatures = lastAnswers<boolean>(256);

/** Signatures last, as they cost the most, and each only once. */
function verified(child: Candidate, issuer: Candidate): string | undefined {
  const pair = `${child.facts.fingerprint} ${issuer.facts.fingerprint}`;
  const good = signatures(pair, () => child.certificate.verify(issuer.certificate.publicKey));
  return good ? undefined : 'has another key than the one that signed: it is another CA of the same name';
}

function candidate(facts: CertificateFacts, trusted: boolean, parsed: ChainQuestion['parsed']): Candidate {
  const der = Buffer.from(facts.der, 'base64');
  const certificate = parsed?.get(facts.fingerprint) ?? new X509Certificate(der);
  return { facts, trusted, certificate, names: rawNamesOf(der) };
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}

function later(a: Date | undefined, b: Date): Date {
  return a !== undefined && a > b ? a : b;
}
