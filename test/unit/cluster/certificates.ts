import {
  type Authority,
  authoritySecretName,
  clusterLeaves,
  type LeafPlan,
  memberLeaves,
} from '../../../manifests/render/certificate-names.ts';
import { peerName } from '../../../manifests/render/names.ts';
import type { AuthorityView, LeafView, ReadCertificates } from '../../../reconcile/cluster/know/observation.ts';
import { fatal } from '../../../reconcile/x509/defect.ts';
import type { AuthorityFacts, LeafFacts } from '../../../reconcile/x509/inspect.ts';
import { cluster, namespace, token } from './observations.ts';

/** Certificates to decide from, as plain facts: a sound cluster's, and what a test says is different about them. */

type Change<T> = (value: T) => T;

export interface CertificateDifferences {
  /** By Secret name; `every` comes first. */
  readonly leaves?: Readonly<Record<string, Change<LeafView>>>;
  readonly every?: Change<LeafView>;
  readonly peer?: Change<AuthorityView>;
  readonly client?: Change<AuthorityView>;
}

const begun = '2026-01-01T00:00:00Z';
const days = 86_400_000;

/** Everything issued a day ago, served, and trusted by everybody. */
export function managed(size: number, differences: CertificateDifferences = {}): ReadCertificates {
  const same = <T>(value: T) => value;
  const { every = same, leaves = {}, peer = same, client = same } = differences;
  return {
    kind: 'read',
    authorities: { peer: peer(authorityView('peer')), client: client(authorityView('client')) },
    leaves: plansOf(size).map((plan) => (leaves[plan.secretName] ?? same)(every(leafView(plan)))),
  };
}

/** Nothing is there yet. */
export function nothingYet(size: number): ReadCertificates {
  return managed(size, { every: missing, peer: missingAuthority, client: missingAuthority });
}

export function plansOf(size: number): readonly LeafPlan[] {
  const peers = Array.from({ length: size }, (_, ordinal) => peerName(cluster, ordinal));
  return [...clusterLeaves(cluster), ...peers.flatMap((peer) => memberLeaves({ namespace, cluster }, peer))];
}

export function authorityFacts(which: Authority, generation = 1, change: Partial<AuthorityFacts> = {}): AuthorityFacts {
  const subject = `CN=${cluster} ${which} CA ${generation}`;
  const facts: AuthorityFacts = {
    subject,
    issuer: subject,
    commonName: subject.slice(3),
    notBefore: new Date(begun),
    notAfter: new Date(Date.parse(begun) + 3650 * days),
    dnsNames: [],
    ipAddresses: [],
    usages: ['serverAuth', 'clientAuth'],
    isAuthority: true,
    keyType: 'ec',
    curve: 'prime256v1',
    fingerprint: `${which}-ca-${generation}`,
    der: '',
    trust: [`${which}-ca-${generation}`],
    authorities: [],
    keyMatches: true,
    crossed: false,
    ...change,
  };
  return facts.authorities.length > 0 ? facts : { ...facts, authorities: [facts] };
}

/** A second CA, which trusts the first beside itself; crossed, unless the first one's key was lost. */
export function rotated(which: Authority, { crossed = true }: { crossed?: boolean } = {}): AuthorityFacts {
  const [old, made] = [authorityFacts(which, 1), authorityFacts(which, 2)];
  return {
    ...made,
    trust: [old.fingerprint, made.fingerprint],
    authorities: [made, old],
    crossed,
    ...(crossed && { cross: { ...made, issuer: old.subject, fingerprint: `${which}-cross` } }),
  };
}

export function leafFacts(
  plan: LeafPlan,
  authority = authorityFacts(plan.authority),
  change: Partial<LeafFacts> = {},
): LeafFacts {
  return {
    subject: plan.commonName === undefined ? '(no name)' : `CN=${plan.commonName}`,
    issuer: authority.subject,
    ...(plan.commonName !== undefined && { commonName: plan.commonName }),
    notBefore: new Date(begun),
    notAfter: new Date(Date.parse(begun) + 90 * days),
    dnsNames: plan.dnsNames.map((name) => name.toLowerCase()),
    ipAddresses: [...plan.ipAddresses],
    usages: [...plan.usages],
    isAuthority: false,
    keyType: 'ec',
    curve: 'prime256v1',
    fingerprint: `${plan.secretName} of ${authority.fingerprint}`,
    der: '',
    trust: authority.trust,
    authorities: authority.authorities,
    keyMatches: true,
    intermediates: [],
    chainLength: 1,
    ...change,
  };
}

export function leafView(plan: LeafPlan, authority = authorityFacts(plan.authority)): LeafView {
  const facts = leafFacts(plan, authority);
  return { plan, state: 'ours', facts, defects: [], ...(plan.peer !== undefined && { served: facts.fingerprint }) };
}

export function authorityView(which: Authority): AuthorityView {
  const name = authoritySecretName(cluster, which);
  return { name, state: 'ours', uid: `${name}-uid`, record: { token }, facts: authorityFacts(which) };
}

export function missing({ plan }: LeafView): LeafView {
  const cure = 'create it';
  const defect = fatal({ reason: 'SecretMissing', secretName: plan.secretName, problem: 'does not exist', cure });
  return { plan, state: 'missing', defects: [defect] };
}

export function missingAuthority({ name }: AuthorityView): AuthorityView {
  return { name, state: 'missing' };
}

export function foreign(leaf: LeafView): LeafView {
  return { ...leaf, state: 'foreign' };
}

/** There, and nothing in it can be read. */
export function damaged({ plan }: LeafView): LeafView {
  const cure = 'store it whole';
  const defect = fatal({ reason: 'KeysMissing', secretName: plan.secretName, problem: 'has nothing', cure });
  return { plan, state: 'ours', defects: [defect] };
}

export function withFacts(change: Partial<LeafFacts>): Change<LeafView> {
  return (leaf) => ({ ...leaf, ...(leaf.facts && { facts: { ...leaf.facts, ...change } }) });
}

/** Signed by the second CA, and served, if by anybody. */
export function ofTheNew({ crossed = true }: { crossed?: boolean } = {}): Change<LeafView> {
  return ({ plan }) => leafView(plan, rotated(plan.authority, { crossed }));
}

export function withAuthority(
  facts: AuthorityFacts,
  record: Partial<AuthorityView['record']> = {},
): Change<AuthorityView> {
  return (view) => ({ ...view, facts, record: { token, ...record } });
}
