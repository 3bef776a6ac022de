import type { LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import type { CertificateFacts } from '../../../x509/facts.ts';
import type { AuthorityFacts, LeafFacts } from '../../../x509/inspect.ts';

/**
 * What certificates will say that are not made yet: all that a rule looks at, and no key, nor anything that one was
 * used for.
 */

interface Times {
  readonly notBefore: string;
  readonly notAfter: string;
}

const key = { keyType: 'ec', curve: 'prime256v1', der: '' } as const;

/** @param previous the CA that it takes over from, and that vouches for it */
export function authorityFacts(
  name: string,
  { notBefore, notAfter }: Times,
  { previous, trusted }: { readonly previous?: AuthorityFacts; readonly trusted: readonly CertificateFacts[] },
): AuthorityFacts {
  const commonName = `${name} made ${notBefore}`;
  const facts: CertificateFacts = {
    ...key,
    subject: `CN=${commonName}`,
    issuer: `CN=${commonName}`,
    commonName,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    dnsNames: [],
    ipAddresses: [],
    usages: ['serverAuth', 'clientAuth'],
    isAuthority: true,
    fingerprint: hashOf(['authority', commonName]),
  };
  const cross = previous && {
    ...facts,
    issuer: previous.subject,
    notAfter: earlier(facts.notAfter, previous.notAfter),
    fingerprint: hashOf(['cross', commonName]),
  };
  return { ...facts, ...trusting([facts, ...trusted]), crossed: cross !== undefined, ...(cross && { cross }) };
}

/** The same CA, with others, or none, trusted beside it. */
export function trusting(authorities: readonly CertificateFacts[]) {
  const trust = [...new Set(authorities.map(({ fingerprint }) => fingerprint))].sort();
  return { trust, authorities, keyMatches: true };
}

export function leafFacts(plan: LeafPlan, authority: AuthorityFacts, { notBefore, notAfter }: Times): LeafFacts {
  return {
    ...key,
    subject: `CN=${plan.commonName}`,
    issuer: authority.subject,
    commonName: plan.commonName,
    notBefore: new Date(notBefore),
    notAfter: earlier(new Date(notAfter), authority.notAfter),
    dnsNames: plan.dnsNames.map((name) => name.toLowerCase()),
    ipAddresses: plan.ipAddresses,
    usages: plan.usages,
    isAuthority: false,
    fingerprint: hashOf(['leaf', plan.secretName, authority.fingerprint, notBefore]),
    trust: authority.trust,
    authorities: authority.authorities,
    keyMatches: true,
    intermediates: authority.cross ? [authority.cross] : [],
    chainLength: authority.cross ? 2 : 1,
  };
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
