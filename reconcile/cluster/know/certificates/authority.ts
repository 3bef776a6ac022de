import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import type { AuthorityFacts } from '../../../x509/inspect.ts';
import { skew } from './validity.ts';

/**
 * Whether leaves can be signed with it, and verified with the CAs in its Secret. A Secret of which a person edited one
 * half signs nothing, or nothing valid: trying again would not change that.
 */
export function canSign({ keyMatches, keyType, curve, fingerprint, trust, ...facts }: AuthorityFacts): boolean {
  const isSound = keyMatches && facts.isAuthority && keyType === 'ec' && curve === 'prime256v1';
  return isSound && trust.includes(fingerprint) && facts.authorities.every(({ isAuthority }) => isAuthority);
}

/** A short name for a set of CAs, given to those that must have loaded it. */
export function trustWord(certificates: readonly string[]): string {
  return hashOf([...certificates].sort()).slice(0, 12);
}

const stranger = 'stranger-';

/**
 * The word for a CA that was made when the CA before and everything that it had signed were lost: a member that has
 * not loaded the new CA rejects every new leaf, and is rejected by every member that has loaded it.
 */
export function strangersWord(word: string): string {
  return `${stranger}${word}`;
}

export function isStrangersWord(word: string): boolean {
  return word.startsWith(stranger);
}

export function hasEnded({ notAfter }: { readonly notAfter: Date }, at: Date): boolean {
  return notAfter <= at;
}

/** Not expired, and, even if a clock was set back, valid already. */
export function isValidAt({ notBefore, notAfter }: AuthorityFacts, at: Date): boolean {
  return notAfter > at && notBefore.getTime() <= at.getTime() + skew;
}
