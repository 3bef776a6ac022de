import type { AuthorityFacts } from '../../certificates/inspect.ts';
import { skew } from './validity.ts';

/**
 * Whether leaves can be signed with it, and be verified by who trusts what its Secret says. A Secret of which somebody edited one
 * half signs nothing, or nothing that holds: trying again would not change that.
 */
export function canSign({ keyMatches, keyType, curve, fingerprint, trust, ...facts }: AuthorityFacts): boolean {
  const isSound = keyMatches && facts.isAuthority && keyType === 'ec' && curve === 'prime256v1';
  return isSound && trust.includes(fingerprint) && facts.authorities.every(({ isAuthority }) => isAuthority);
}

export function hasEnded({ notAfter }: { readonly notAfter: Date }, at: Date): boolean {
  return notAfter <= at;
}

/** Neither over, nor, after a clock was set back, still to come. */
export function isValidAt({ notBefore, notAfter }: AuthorityFacts, at: Date): boolean {
  return notAfter > at && notBefore.getTime() <= at.getTime() + skew;
}
