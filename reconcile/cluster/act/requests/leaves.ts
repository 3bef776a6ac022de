import { X509Certificate } from 'node:crypto';
import type { Secret } from '../../../../manifests/kube-types.ts';
import type { LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import { leafSecret } from '../../../../manifests/render/certificate-secret.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { isControlledBy } from '../../../../manifests/render/owner-reference.ts';
import { resources } from '../../../interfaces/kube.ts';
import type { Program } from '../../../requests/program.ts';
import type { CertificateFacts } from '../../../x509/facts.ts';
import { inspectLeaf, type LeafFacts } from '../../../x509/inspect.ts';
import { chainBehind, issueLeaf } from '../../../x509/issue.ts';
import { authorityOf, certificatesIn, leafData, pemOf, trustOf } from '../../../x509/secret-data.ts';
import type { Validity } from '../../know/certificates/validity.ts';
import type { LeafView } from '../../know/observation.ts';
import { moved } from '../../know/outcome.ts';
import { isForeign } from '../../observe/slots.ts';
import { nameTaken } from '../actions/context.ts';
import type { Leased } from '../actions/define.ts';
import { type LeafOwner, referenceTo, requireAsRead, secretWritten, writeSecret } from './certificate-secrets.ts';
import type { Host } from './host.ts';
import { chainFacts, leafFacts, trusting } from './issued-facts.ts';
import { getOne } from './live.ts';
import { livePeer } from './objects.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** The Secrets of leaves: those that are mounted, and those that others fill. */

export interface LeafRead {
  /** Whether its controller is the owner that was asked for. */
  readonly current: boolean;
  /** No resource of ours controls it. */
  readonly foreign: boolean;
  /** Absent when it cannot be read. */
  readonly facts?: LeafFacts;
  readonly readAt: ReadAt;
}

/** `ownerUid`: what controls it, so that it is `current`; where that is left out, it is not looked at. */
interface Named {
  readonly name: string;
  readonly ownerUid?: string;
}

export const readLeaf = defineRequest('readLeaf', {
  words: ({ name }: Named) => `reads the certificate in Secret ${name}`,
  live: async ({ name, ownerUid }, live): Promise<LeafRead | undefined> => {
    const found = await getOne<Secret>(live, resources.secrets, name);
    if (!found) return undefined;
    const inspected = inspectLeaf(found.data ?? {});
    return {
      current: ownerUid !== undefined && isControlledBy(found, ownerUid),
      foreign: isForeign(found),
      ...(inspected.kind === 'readable' && { facts: inspected.leaf }),
      readAt: live.keep('secret', name, found),
    };
  },
  model: (state, { name }, host) => ({ state, answer: inModel(state, name, host) }),
});

function inModel<S>(state: S, name: string, host: Host<S>): LeafRead | undefined {
  const leaves = host.certificates.leaves(state);
  const readAt = { object: 'secret', name, at: 'current' } as const;
  const mounted = leaves.find(({ plan }) => plan.secretName === name);
  if (mounted) return mounted.state === 'missing' ? undefined : { ...ownedAs(mounted), ...factsOf(mounted), readAt };
  const issued = leaves.find((leaf) => leaf.issued?.name === name)?.issued;
  if (!issued || issued.secret === 'missing') return undefined;
  return { current: false, foreign: true, ...factsOf(issued), readAt };
}

function ownedAs({ state }: LeafView) {
  return { current: state === 'ours', foreign: state === 'foreign' };
}

function factsOf({ facts }: { readonly facts?: LeafFacts }): Pick<LeafRead, 'facts'> {
  return facts ? { facts } : {};
}

/** The owner of a leaf. @throws {StepError} when its peer is gone, or another one of the same name. */
export function* ownerOf(
  { plan, peerUid }: { readonly plan: LeafPlan; readonly peerUid?: string },
  cluster: Leased,
): Program<LeafOwner> {
  if (plan.peer === undefined) return { uid: cluster.uid };
  const peer = yield* livePeer(plan.peer);
  if (peer.uid !== peerUid) throw moved(`peer ${plan.peer} was recreated`);
  return { uid: peer.uid, peer: peer.readAt };
}

/** The owner's, if it is there. @throws {StepError} `NameTaken` when the Secret of that name is not the owner's. */
export function* ownLeaf({ secretName }: LeafPlan, { uid }: LeafOwner): Program<LeafRead | undefined> {
  const found = yield* readLeaf({ name: secretName, ownerUid: uid });
  if (found && !found.current) throw nameTaken(resources.secrets, secretName);
  return found;
}

interface OneLeaf {
  readonly plan: LeafPlan;
  readonly owner: LeafOwner;
  /** Of the Secret that is replaced; absent: there is none. */
  readonly readAt?: ReadAt;
}

/** Signed by the CA as it was read, and written whole: key, chain and trust always fit together. */
export const signLeaf = defineRequest('signLeaf', {
  words: ({ plan }: OneLeaf & { readonly authority: ReadAt; readonly validity: Validity }) =>
    `signs the certificate of Secret ${plan.secretName}`,
  writes: ({ plan, readAt }) => secretWritten(plan.secretName, readAt),
  live: async ({ plan, owner, readAt, authority, validity }, live): Promise<void> => {
    const { data: signer = {} } = live.kept<Secret>(authority);
    const life = { notBefore: new Date(validity.notBefore), notAfter: new Date(validity.leafNotAfter) };
    const data = leafData(await issueLeaf(plan, authorityOf(signer), life), trustOf(signer));
    await writeSecret(live, leafSecret(plan, live.cluster, referenceTo(owner, live), data), readAt);
  },
  model: (state, { plan, readAt, validity }, host) => {
    const signer = host.certificates.authority(state, plan.authority)?.facts;
    const life = { notBefore: validity.notBefore, notAfter: validity.leafNotAfter };
    const facts = signer && leafFacts(plan, signer, life);
    return { state: written(state, plan, { readAt, facts }, host), answer: undefined };
  },
});

/**
 * The leaf stays as it is. Beside it stand the CAs that the CA's Secret says are to be trusted, and behind a leaf of
 * this very CA what vouches for that.
 */
export const trustBesideLeaf = defineRequest('trustBesideLeaf', {
  words: ({ plan }: OneLeaf & { readonly readAt: ReadAt; readonly authority: ReadAt; readonly at: string }) =>
    `writes into Secret ${plan.secretName} which CAs to trust`,
  writes: ({ plan, readAt }) => secretWritten(plan.secretName, readAt),
  live: async ({ plan, owner, readAt, authority, at }, live): Promise<void> => {
    const { data: signer = {} } = live.kept<Secret>(authority);
    const before = live.kept<Secret>(readAt).data;
    const data = { ...before, ...chainOver(plan, before, signer, new Date(at)), 'ca.crt': encoded(trustOf(signer)) };
    await writeSecret(live, leafSecret(plan, live.cluster, referenceTo(owner, live), data), readAt);
  },
  model: (state, { plan, readAt, at }, host) => {
    const before = inModel(state, plan.secretName, host)?.facts;
    const signer = host.certificates.authority(state, plan.authority)?.facts;
    const { trust, authorities, intermediate } = signer ?? {};
    const isOfIt = intermediate !== undefined && before?.issuer === signer?.subject;
    const intermediates = signer && isOfIt && chainFacts(plan, signer, new Date(at));
    const chain = intermediates && { intermediates, chainLength: 1 + intermediates.length };
    const facts = before && trust && authorities && { ...before, trust, authorities, ...chain };
    return { state: written(state, plan, { readAt, facts }, host), answer: undefined };
  },
});

/** A leaf of another CA, and one whose CA no issuer signed, keeps what follows it. */
function chainOver(
  plan: LeafPlan,
  before: Secret['data'],
  signer: Readonly<Record<string, string>>,
  at: Date,
): { readonly 'tls.crt'?: string } {
  const authority = authorityOf(signer);
  const [leaf] = certificatesIn(before ?? {});
  const isOfIt =
    leaf !== undefined && new X509Certificate(leaf).checkIssued(new X509Certificate(authority.certificate));
  if (!authority.intermediate || !isOfIt) return {};
  return { 'tls.crt': encoded([leaf, chainBehind(plan, authority, at)]) };
}

interface HandedOver extends OneLeaf {
  /** The Secret that key and certificate are taken from. */
  readonly pair: ReadAt;
  readonly trusted: readonly CertificateFacts[];
  /** ISO 8601. */
  readonly at: string;
}

/** Key and certificate go from Secret to Secret and nowhere else; beside them stand these CAs. */
export const handOverLeaf = defineRequest('handOverLeaf', {
  words: ({ plan }: HandedOver) => `hands the certificate of Secret ${plan.secretName} over`,
  writes: ({ plan, readAt }) => secretWritten(plan.secretName, readAt),
  live: async ({ plan, owner, readAt, pair, trusted, at }, live): Promise<void> => {
    const { 'tls.crt': certificate = '', 'tls.key': key = '' } = live.kept<Secret>(pair).data ?? {};
    const data = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': encoded(trusted.map(pemOf)) };
    const secret = leafSecret(plan, live.cluster, referenceTo(owner, live), data);
    const metadata = { ...secret.metadata, annotations: { [annotations.handedOverAt]: at } };
    await writeSecret(live, { ...secret, metadata }, readAt);
  },
  model: (state, { plan, readAt, pair, trusted, at }, host) => {
    const handed = inModel(state, pair.name, host)?.facts;
    const facts = handed && { ...handed, ...trusting(trusted), keyMatches: handed.keyMatches };
    return { state: written(state, plan, { readAt, facts, handedOverAt: new Date(at) }, host), answer: undefined };
  },
});

interface InModel {
  readonly readAt: ReadAt | undefined;
  readonly facts: LeafFacts | undefined;
  readonly handedOverAt?: Date;
}

function written<S>(state: S, plan: LeafPlan, { readAt, facts, ...handed }: InModel, host: Host<S>): S {
  const found = host.certificates.leaves(state).find((leaf) => leaf.plan.secretName === plan.secretName);
  if (!found) return state;
  requireAsRead(host, `Secret ${plan.secretName}`, { readAt, isThere: found.state !== 'missing' });
  if (!facts) return state;
  return host.certificates.putLeaf(state, { ...found, ...handed, plan, state: 'ours', facts, defects: [] });
}

function encoded(trust: readonly string[]): string {
  return Buffer.from(trust.join('')).toString('base64');
}
