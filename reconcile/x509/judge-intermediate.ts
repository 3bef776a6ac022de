import { X509Certificate } from 'node:crypto';
import { chainOf } from './chain.ts';
import type { CertificateFacts } from './facts.ts';
import { type AuthorityFacts, readChain } from './inspect.ts';
import { isCross, lengthFlaw } from './intermediate.ts';

/** Whether what an issuer signed for a CA of ours leads its clients from our leaves to the issuer's own CA. */

/** Both as cert-manager has them: PEM, base64. */
interface Signed {
  readonly certificate: string;
  readonly ca?: string;
}

/** The flaw follows "what it signed". */
export interface JudgedIntermediate {
  readonly chain: readonly CertificateFacts[];
  readonly flaw?: string;
}

const skewMs = 5 * 60_000;

export function judgeIntermediate(signed: Signed, authority: AuthorityFacts, now: Date): JudgedIntermediate {
  const chain = factsIn(signed.certificate);
  const anchors = signed.ca === undefined ? [] : factsIn(signed.ca);
  if ('flaw' in chain) return { chain: [], flaw: chain.flaw };
  if ('flaw' in anchors) return { chain: [], flaw: anchors.flaw };
  const flaw = lengthFlaw(signed.certificate, chain.length) ?? flawOf(chain, anchors, authority, now);
  return { chain, ...(flaw !== undefined && { flaw }) };
}

function factsIn(encoded: string): readonly CertificateFacts[] | { readonly flaw: string } {
  const read = readChain(encoded);
  return 'problem' in read ? { flaw: read.problem } : read.value.facts;
}

function flawOf(
  chain: readonly CertificateFacts[],
  anchors: readonly CertificateFacts[],
  authority: AuthorityFacts,
  now: Date,
): string | undefined {
  const [first, ...above] = chain;
  if (!first) return 'holds no certificate';
  if (!first.isAuthority) return 'is not the certificate of a CA';
  if (first.subject !== authority.subject) return `names "${first.subject}" instead of "${authority.subject}"`;
  if (!isCross(parsed(authority), parsed(first))) return 'is of another key, or signed by itself';
  if (first.notAfter <= now) return `ended at ${first.notAfter.toISOString()}`;
  if (first.notBefore.getTime() > now.getTime() + skewMs) return `begins only at ${first.notBefore.toISOString()}`;
  const short = shortIn(chain, anchors);
  if (short) return `cannot be used: "${short.subject}" allows ${short.pathLength} CAs below it`;
  if (anchors.length === 0) return undefined;
  const led = chainOf({ leaf: first, intermediates: above, trust: anchors, usages: [], now, skewMs });
  return led.kind === 'anchored' ? undefined : `does not lead to the CA of its issuer: ${led.why}`;
}

/** The first CA that allows fewer than are below it. RFC 5280 (6.1.4) counts none that signed itself. */
function shortIn(
  chain: readonly CertificateFacts[],
  anchors: readonly CertificateFacts[],
): CertificateFacts | undefined {
  const end = chain.findIndex(({ fingerprint }) => anchors.some((anchor) => anchor.fingerprint === fingerprint));
  const path = end < 0 ? chain : chain.slice(0, end);
  const allows = ({ pathLength }: CertificateFacts, below: readonly CertificateFacts[]) =>
    pathLength === undefined || pathLength >= below.filter(({ subject, issuer }) => subject !== issuer).length;
  return (
    path.find((one, index) => index > 0 && !allows(one, path.slice(0, index))) ??
    anchors.find((one) => !allows(one, path))
  );
}

function parsed({ der }: CertificateFacts): X509Certificate {
  return new X509Certificate(Buffer.from(der, 'base64'));
}
