import type { LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import type { CertificateFacts } from '../../../x509/facts.ts';
import type { AuthorityFacts, LeafFacts } from '../../../x509/inspect.ts';
import { behindLeaf, isCalledOtherwise } from '../../../x509/intermediate.ts';

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
  // Until an issuer signs this one, what it signed for the one before leads its clients on.
  const before = cross && previous.intermediate?.current ? { ...previous.intermediate, current: false } : undefined;
  return {
    ...facts,
    ...trusting([facts, ...trusted]),
    crossed: cross !== undefined,
    ...(cross && { cross }),
    ...(before && { intermediate: before }),
  };
}

/** The same CA, with others, or none, trusted beside it. */
export function trusting(authorities: readonly CertificateFacts[]) {
  const trust = [...new Set(authorities.map(({ fingerprint }) => fingerprint))].sort();
  return { trust, authorities, keyMatches: true };
}

export function leafFacts(plan: LeafPlan, authority: AuthorityFacts, { notBefore, notAfter }: Times): LeafFacts {
  const intermediates = chainFacts(plan, authority, new Date(notBefore));
  const namesNoKey = plan.purpose === 'server' && isCalledOtherwise(authority);
  return {
    ...key,
    ...(authority.keyId !== undefined && !namesNoKey && { issuerKeyId: authority.keyId }),
    subject: plan.commonName === undefined ? '(no name)' : `CN=${plan.commonName}`,
    issuer: authority.subject,
    ...(plan.commonName !== undefined && { commonName: plan.commonName }),
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
    intermediates,
    chainLength: 1 + intermediates.length,
  };
}

/** What follows a leaf of this CA, of what is valid at that time. */
export function chainFacts(plan: LeafPlan, authority: AuthorityFacts, at: Date): readonly CertificateFacts[] {
  const { cross, intermediate } = authority;
  return behindLeaf(plan.purpose, {
    ...(cross && cross.notAfter > at && { cross }),
    ...(intermediate && intermediate.chain[0].notAfter > at && { intermediate }),
  });
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
