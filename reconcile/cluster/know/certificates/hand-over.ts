import { parseDuration } from '../../../../manifests/api/duration.ts';
import { tlsDefaults } from '../../../../manifests/api/spec-defaults.ts';
import type { Authority } from '../../../../manifests/render/certificate-names.ts';
import { chainOf } from '../../../x509/chain.ts';
import { isFatal } from '../../../x509/defect.ts';
import type { CertificateFacts } from '../../../x509/facts.ts';
import type { LeafFacts } from '../../../x509/inspect.ts';
import { defaultSkewMs } from '../../../x509/judge.ts';
import type { ActionOf } from '../action.ts';
import type { HandOver, TrustOrder } from '../actions/certificates.ts';
import type { LeafView, ReadCertificates } from '../observation.ts';
import type { Situation } from '../situation.ts';
import { sameSet } from './due.ts';
import { bundledTrust } from './trust.ts';
import { skew } from './validity.ts';
import { peerUidOf } from './wanted.ts';

type Facts = Pick<Situation, 'slots' | 'at' | 'cluster'>;

const both = ['peer', 'client'] as const;

/**
 * Certificates that cert-manager issued and that can be handed over now; and the CAs that every member must trust
 * meanwhile.
 *
 * cert-manager replaces a CA without notice, leaf by leaf, and etcd reads its CAs only when it starts: members that
 * mounted cert-manager's own Secrets would reject each other one by one, until no quorum is left. So a leaf of a new CA
 * is presented only when every running member has started with that CA among those that it trusts; and an old CA is
 * dropped only when every leaf is of the new one. Clients get the overlap, before either.
 */
export function handOverDue(facts: Facts, read: ReadCertificates): ActionOf<'hand-over-certificates'> | undefined {
  const trust: TrustOrder[] = [];
  const leaves: HandOver[] = [];
  for (const authority of both) {
    const concerned = read.leaves.filter(({ plan }) => plan.authority === authority);
    const fingerprints = trustFor(facts, concerned);
    const due = concerned.flatMap((leaf) => orderFor(facts, read, leaf, fingerprints));
    if (due.length === 0) continue;
    const sources = concerned.flatMap(({ plan, issued }) => [...(issued ? [issued.name] : []), plan.secretName]);
    trust.push({ authority, fingerprints, sources });
    leaves.push(...due);
  }
  const adopt = read.leaves.flatMap(({ issued }) =>
    issued?.secret === 'ours' && !issued.owned && issued.certificate?.state === 'ours'
      ? [{ name: issued.name, certificateUid: issued.certificate.uid }]
      : [],
  );
  if (leaves.length === 0 && adopt.length === 0) return undefined;
  return { kind: 'hand-over-certificates', at: facts.at.toISOString(), trust, leaves, adopt };
}

function orderFor(facts: Facts, read: ReadCertificates, leaf: LeafView, trust: readonly string[]): readonly HandOver[] {
  const { plan, state } = leaf;
  if (state === 'foreign' || state === 'leftover') return [];
  const order = { plan, ...peerUidOf(facts.slots, plan) };
  const offered = usable(leaf);
  if (offered && isNews(leaf, offered) && mayShow(facts, read, leaf, offered)) {
    return [{ ...order, fingerprint: offered.fingerprint, source: leaf.issued?.name ?? plan.secretName }];
  }
  return leaf.facts && !sameSet(leaf.facts.trust, trust) ? [order] : [];
}

/** The certificate of another signer, if a member could run with it. */
export function usable({ issued }: LeafView): LeafFacts | undefined {
  if (issued?.secret !== 'ours' || !issued.facts) return undefined;
  return issued.defects.some(isFatal) ? undefined : issued.facts;
}

function isNews({ facts }: LeafView, offered: LeafFacts): boolean {
  return facts?.fingerprint !== offered.fingerprint || !facts.keyMatches;
}

/** Every holder that trusts the present leaf trusts this one too; or no member runs, or the present leaf is useless. */
function mayShow({ slots, at, cluster }: Facts, read: ReadCertificates, leaf: LeafView, offered: LeafFacts): boolean {
  const { plan, facts, handedOverAt } = leaf;
  const running = slots.filter(({ pod }) => pod);
  if (!facts?.keyMatches || facts.notAfter <= at || running.length === 0) return true;
  // A leaf that has expired by some member's clock is no longer held back.
  const hasTime = at.getTime() < facts.notAfter.getTime() - 2 * skew;
  // Clocks differ by minutes, and cert-manager does not predate: for some members it would not be valid yet.
  if (hasTime && at.getTime() < offered.notBefore.getTime() + skew) return false;
  const known = anchorsOf(facts, facts, at);
  const anchors = anchorsOf(offered, facts, at);
  if (anchors.some((anchor) => known.includes(anchor))) return true;
  // Applications learn the new CA from the Secret that was written with both.
  const learnt = (handedOverAt?.getTime() ?? 0) + overlapOf(cluster);
  if (hasTime && plan.authority === 'client' && at.getTime() < learnt) return false;
  const word = bundledTrust(read);
  return anchors.length > 0 && word !== undefined && running.every(({ pod }) => pod?.trust === word);
}

/** Which CAs that `holder` trusts have signed this leaf. */
function anchorsOf(leaf: LeafFacts, { authorities }: LeafFacts, at: Date): readonly string[] {
  return authorities
    .filter((authority) => {
      if (isOnlyPlanned(leaf) || isOnlyPlanned(authority)) return namesIssuer(leaf, authority);
      const { intermediates, usages } = leaf;
      const question = { leaf, intermediates, trust: [authority], usages, now: at, skewMs: defaultSkewMs };
      return chainOf(question).kind === 'anchored';
    })
    .map(({ fingerprint }) => fingerprint);
}

/** In a simulation a certificate that was never signed has no bytes. A certificate from a Secret always has some. */
function isOnlyPlanned({ der }: CertificateFacts): boolean {
  return der === '';
}

function namesIssuer({ issuer, intermediates }: LeafFacts, { subject }: CertificateFacts): boolean {
  return issuer === subject || intermediates.some((one) => one.subject === issuer && one.issuer === subject);
}

/** Newest first: cert-manager's CAs, then, until every leaf has moved to them, the CAs that are trusted now. */
function trustFor(facts: Facts, leaves: readonly LeafView[]): readonly string[] {
  const offered = leaves.flatMap((leaf) => usable(leaf)?.trust ?? []);
  // A Secret of another owner says nothing about which CAs to trust.
  const ours = leaves.filter(({ state }) => state === 'ours');
  const trusted = hasMoved(facts, leaves) ? [] : ours.flatMap((leaf) => leaf.facts?.trust ?? []);
  return [...new Set([...offered, ...trusted])];
}

/** Whether every leaf is cert-manager's newest, members present it, and clients have had their time. */
function hasMoved({ at, cluster }: Facts, leaves: readonly LeafView[]): boolean {
  const overlap = overlapOf(cluster);
  return leaves.every((leaf) => {
    const { plan, facts, served, handedOverAt } = leaf;
    if (!facts || usable(leaf)?.fingerprint !== facts.fingerprint) return false;
    if (plan.peer !== undefined && served !== facts.fingerprint) return false;
    return at.getTime() >= (handedOverAt?.getTime() ?? 0) + overlap;
  });
}

/** The time for clients to follow, in milliseconds. */
function overlapOf({ spec }: Facts['cluster']): number {
  return parseDuration(spec.tls?.rotationOverlap ?? tlsDefaults.rotationOverlap);
}

/** Whether more CAs are trusted than cert-manager names, as during a rotation. */
export function trustsBoth({ leaves }: ReadCertificates, authority: Authority): boolean {
  const concerned = leaves.filter(({ plan }) => plan.authority === authority);
  const offered = new Set(concerned.flatMap((leaf) => usable(leaf)?.trust ?? []));
  const complete = concerned.every((leaf) => usable(leaf));
  return complete && concerned.some(({ facts }) => facts?.trust.some((one) => !offered.has(one)) ?? false);
}
