import type { Authority } from '../../../../manifests/render/certificate-names.ts';
import { isFatal } from '../../../x509/defect.ts';
import type { AuthorityFacts } from '../../../x509/inspect.ts';
import { isCalledOtherwise } from '../../../x509/intermediate.ts';
import { missingNames, renewalTime } from '../../../x509/judge.ts';
import type { AuthorityView, LeafView, Observation, ReadCertificates, Slot } from '../observation.ts';
import { hasEnded, isValidAt } from './authority.ts';
import type { Remedy } from './remedy.ts';
import { isRevoked } from './revoked.ts';

/**
 * What one of our leaves needs, if anything: it is missing, damaged, due, revoked, of another CA, or has other names;
 * or the CAs beside it are not those that its holder must trust.
 */
export function remedyFor(
  leaf: LeafView,
  read: ReadCertificates,
  situation: Pick<Observation, 'slots' | 'at' | 'cluster'>,
): Remedy | undefined {
  const { slots, at } = situation;
  const { plan, state, facts, defects } = leaf;
  const authority = read.authorities[plan.authority];
  if (state === 'foreign' || state === 'leftover' || !authority?.facts) return undefined;
  const good =
    facts?.keyMatches &&
    facts.issuer === authority.facts.subject &&
    !isDue(facts, at) &&
    !isRevoked(leaf, situation) &&
    saysWhatIsPlanned(leaf) &&
    callsItsIssuer(leaf, authority.facts) &&
    !defects.some(isFatal);
  // An expired leaf is rejected everywhere: a holder that does not trust the new one loses nothing.
  const free = (facts && hasEnded(facts, at)) || mayGiveOut(authority, authority.facts, slots, at);
  if (!good && isValidAt(authority.facts, at) && free) return 'issue';
  if (!facts) return undefined;
  return sameSet(facts.trust, authority.facts.trust) && !lacksIntermediate(leaf, authority.facts, at)
    ? undefined
    : 'bundle';
}

/** What an issuer of cert-manager signed for its CA does not stand behind it yet. */
function lacksIntermediate({ plan, facts }: LeafView, authority: AuthorityFacts, at: Date): boolean {
  if (plan.purpose !== 'server' || !facts || facts.issuer !== authority.subject) return false;
  const { chain } = authority.intermediate ?? {};
  if (!chain || hasEnded(chain[0], at)) return false;
  return chain.some((one) => !facts.intermediates.some(({ fingerprint }) => fingerprint === one.fingerprint));
}

/** By the key that clients of others find it by, or by none where these differ. A CA of facts alone has no key. */
function callsItsIssuer({ plan, facts }: LeafView, authority: AuthorityFacts): boolean {
  if (plan.purpose !== 'server' || authority.keyId === undefined) return true;
  return facts?.issuerKeyId === (isCalledOtherwise(authority) ? undefined : authority.keyId);
}

/**
 * Whether leaves of a CA may be handed over. With a cross certificate at once: members that know only the old CA accept
 * them. Without one (the old key was lost) only when every running member has started with the new CA among those that
 * it trusts: a member keeps the files that it has loaded even when its Secret is gone, and a leaf that no member
 * accepts would cut it off.
 */
function mayGiveOut({ record }: AuthorityView, facts: AuthorityFacts, slots: readonly Slot[], at: Date): boolean {
  const others = facts.authorities.filter((other) => other.fingerprint !== facts.fingerprint && !hasEnded(other, at));
  if (others.length === 0 || (facts.cross && !hasEnded(facts.cross, at))) return true;
  const { trust } = record ?? {};
  if (trust === undefined) return true;
  return slots.every(
    ({ peer, pod }) =>
      !peer?.current || pod?.container.state !== 'running' || pod.trust?.split('.').includes(trust) === true,
  );
}

export function isDue(facts: { readonly notBefore: Date; readonly notAfter: Date }, at: Date): boolean {
  return at >= renewalTime(facts);
}

/** Whether it has exactly the planned names. */
export function saysWhatIsPlanned({ plan, facts }: LeafView): boolean {
  if (!facts) return false;
  return (
    facts.commonName === plan.commonName &&
    missingNames(facts, [...plan.dnsNames, ...plan.ipAddresses]).length === 0 &&
    new Set(facts.dnsNames).size <= new Set(plan.dnsNames.map((name) => name.toLowerCase())).size
  );
}

export function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((item) => right.has(item));
}

/** The CAs that have to be made: missing, expired, without a valid key, or of an earlier cluster of this name. */
export function authoritiesToMake(read: ReadCertificates, token: string, at: Date): readonly Authority[] {
  return (['peer', 'client'] as const).filter((which) => {
    const view = read.authorities[which];
    if (!view || view.state === 'foreign' || view.state === 'leftover') return false;
    return view.state === 'missing' || !view.facts || hasEnded(view.facts, at) || view.record?.token !== token;
  });
}

/** What every member must have loaded, as one word for its template; `undefined` as long as there was only one CA. */
export function trustOf(read: ReadCertificates): string | undefined {
  const words = (['peer', 'client'] as const).flatMap((which) => read.authorities[which]?.record?.trust ?? []);
  return words.length === 0 ? undefined : words.join('.');
}
