import type { Authority } from '../../../manifests/build/certificate-names.ts';
import { isFatal } from '../../certificates/defect.ts';
import type { AuthorityFacts } from '../../certificates/inspect.ts';
import { missingNames, renewalTime } from '../../certificates/judge.ts';
import type { AuthorityView, LeafView, ReadCertificates, Slot } from '../observation.ts';
import { hasEnded, isValidAt } from './authority.ts';

/** How a leaf is put right: signed anew, or left as it is with other CAs to trust beside it. */
export type Remedy = 'issue' | 'bundle';

/**
 * What one leaf of ours needs, if anything: it is missing, damaged, due, of another CA, in other names; or it tells its holder
 * to trust others than it should.
 */
export function remedyFor(
  leaf: LeafView,
  read: ReadCertificates,
  slots: readonly Slot[],
  at: Date,
): Remedy | undefined {
  const { plan, state, facts, defects } = leaf;
  const authority = read.authorities[plan.authority];
  if (state === 'foreign' || state === 'leftover' || !authority?.facts) return undefined;
  const good =
    facts?.keyMatches &&
    facts.issuer === authority.facts.subject &&
    !isDue(facts, at) &&
    saysWhatIsPlanned(leaf) &&
    !defects.some(isFatal);
  // A leaf that has ended is refused by everybody: who does not follow the new one is no worse off.
  const free = (facts && hasEnded(facts, at)) || mayGiveOut(authority, authority.facts, slots, at);
  if (!good && isValidAt(authority.facts, at) && free) return 'issue';
  return !facts || sameSet(facts.trust, authority.facts.trust) ? undefined : 'bundle';
}

/**
 * Whether leaves of a CA may be given out. With a cross certificate at once: who knows only the old CA can follow it. Without
 * one (the old key was lost) only when every member that runs was started with the new CA among those it trusts: a member
 * goes on with the files that it has even when its Secret is gone, and a leaf that nobody accepts would cut it off.
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

/** Whether it is made out to whom it should be, and to nobody else. */
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

/** The CAs that have to be made: missing, over, no CA with its key any more, or of an earlier cluster of this name. */
export function authoritiesToMake(read: ReadCertificates, token: string, at: Date): readonly Authority[] {
  return (['peer', 'client'] as const).filter((which) => {
    const view = read.authorities[which];
    if (!view || view.state === 'foreign' || view.state === 'leftover') return false;
    return view.state === 'missing' || !view.facts || hasEnded(view.facts, at) || view.record?.token !== token;
  });
}

/** What every member must have loaded, as one word for its template; `undefined` as long as there was but one CA. */
export function trustOf(read: ReadCertificates): string | undefined {
  const words = (['peer', 'client'] as const).flatMap((which) => read.authorities[which]?.record?.trust ?? []);
  return words.length === 0 ? undefined : words.join('.');
}
