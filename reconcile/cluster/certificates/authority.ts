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

const stranger = 'stranger-';

/**
 * The word for a CA that was made when everything of the one before was lost, also what it had signed: whoever has not loaded this
 * one accepts nobody who is given a leaf from now on, and is accepted by nobody who has.
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

/** Neither over, nor, after a clock was set back, still to come. */
export function isValidAt({ notBefore, notAfter }: AuthorityFacts, at: Date): boolean {
  return notAfter > at && notBefore.getTime() <= at.getTime() + skew;
}
