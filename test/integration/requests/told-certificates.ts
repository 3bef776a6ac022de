import { isStrangersWord } from '../../../reconcile/cluster/know/certificates/authority.ts';
import type { AuthorityView, Certificates, IssuedView, LeafView } from '../../../reconcile/cluster/know/observation.ts';
import type { AuthorityFacts, LeafFacts } from '../../../reconcile/x509/inspect.ts';

/** Names and fingerprints of what is made differ each time: such a text is `new`, unless it was there before. */
type Named = (text: string) => string;

type Facts = LeafFacts | AuthorityFacts;

/** Of certificates, all that a request can write. */
export function toldCertificates(certificates: Certificates, known: ReadonlySet<string>) {
  if (certificates.kind !== 'read') return certificates.kind;
  const named: Named = (text) => (known.has(text) ? text : 'new');
  const { authorities, leaves } = certificates;
  return {
    authorities: Object.values(authorities).map((view) => ofAuthority(view, named)),
    leaves: Object.fromEntries(leaves.map((leaf) => [leaf.plan.secretName, ofLeaf(leaf, named)])),
  };
}

function ofAuthority({ name, state, uid, record, facts, signing }: AuthorityView, named: Named) {
  const { trust, ...rest } = record ?? {};
  return {
    name,
    state,
    uid: uid && named(uid),
    record: record && { ...rest, trust: trust && (known(trust, named) ?? newWord(trust)) },
    facts: facts && ofFacts(facts, named),
    signing: signing?.state,
  };
}

function known(text: string, named: Named): string | undefined {
  return named(text) === text ? text : undefined;
}

function newWord(trust: string): string {
  return isStrangersWord(trust) ? "a new stranger's" : 'new';
}

function ofLeaf({ state, facts, defects, issued, handedOverAt }: LeafView, named: Named) {
  return { state, handedOverAt, ...ofFound({ facts, defects }, named), issued: issued && ofIssued(issued, named) };
}

function ofFound({ facts, defects }: { facts: LeafFacts | undefined; defects: LeafView['defects'] }, named: Named) {
  return { facts: facts && ofFacts(facts, named), defects: defects.map(({ reason }) => reason) };
}

/** What cert-manager says of a Certificate is its own, and comes later. */
function ofIssued({ name, certificate, secret, owned, facts, defects }: IssuedView, named: Named) {
  const asked =
    certificate?.state === 'ours'
      ? {
          uid: named(certificate.uid),
          current: certificate.current,
          said: certificate.said.state,
          of: certificate.asked.issuerRef,
          for: certificate.asked.names.toSorted(),
        }
      : certificate?.state;
  return { name, asked, secret, owned, ...ofFound({ facts, defects }, named) };
}

function ofFacts(facts: Facts, named: Named) {
  const { dnsNames, ipAddresses, usages, notBefore, notAfter, keyMatches } = facts;
  return {
    names: [dnsNames, ipAddresses, usages].map((some) => some.toSorted()),
    ends: [notBefore, notAfter],
    keyMatches,
    made: [facts.fingerprint, facts.subject, facts.issuer].map(named),
    trust: facts.trust.map(named).toSorted(),
    authorities: facts.authorities.map(({ fingerprint }) => named(fingerprint)),
    beside: besideOf(facts).map(({ issuer, notAfter: end }) => [named(issuer), end]),
  };
}

/** Certificates of CAs that stand with it. */
function besideOf(facts: Facts) {
  if ('intermediates' in facts) return facts.intermediates;
  return [...(facts.cross ? [facts.cross] : []), ...(facts.intermediate?.chain ?? [])];
}
