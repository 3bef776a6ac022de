import { issuerDefaults } from '../../../../manifests/api/spec-defaults.ts';
import type { Secret } from '../../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
  corrected,
  isCurrent,
} from '../../../../manifests/render/cert-manager-certificate.ts';
import { askedBy, namesRefused } from '../../../../manifests/render/certificate-allowance.ts';
import { issuedSecretName, type LeafPlan, memberLeaves } from '../../../../manifests/render/certificate-names.ts';
import { isControlledBy } from '../../../../manifests/render/owner-reference.ts';
import { resources } from '../../../interfaces/kube.ts';
import { curedBy } from '../../../reasons/cure.ts';
import type { CertificateOrder } from '../../know/actions/certificates.ts';
import { isOwnedBy } from '../../know/certificates/issued.ts';
import { certificateFor } from '../../know/certificates/order.ts';
import type { IssuedView, LeafView, SecretState } from '../../know/observation.ts';
import { needsPerson } from '../../know/outcome.ts';
import { certificateOwner, issuedSecretState } from '../../observe/certificates/issued.ts';
import { asChanged, type LeafOwner, referenceTo, requireAsRead, secretWritten } from './certificate-secrets.ts';
import type { Host } from './host.ts';
import { getOne, type Live, writeBack } from './live.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** What cert-manager is asked for, and the Secrets that it answers with. */

interface Ordered {
  readonly order: CertificateOrder;
  readonly owner: LeafOwner;
}

export interface CertificateRead {
  readonly uid: string;
  /** Whether its controller is the owner that was asked for. */
  readonly current: boolean;
  /** Whether it asks for what is ordered. */
  readonly asksForThis: boolean;
  readonly readAt: ReadAt;
}

/** The Certificate that stands for an order, if there is one. */
export const readCertificate = defineRequest('readCertificate', {
  words: ({ order: { plan } }: Ordered) => `reads Certificate ${issuedSecretName(plan)}`,
  live: async (ordered, live): Promise<CertificateRead | undefined> => {
    const name = issuedSecretName(ordered.order.plan);
    const found = await getOne<CertManagerCertificate>(live, certificateResource, name);
    const wanted = wantedFor(ordered, live, found);
    return (
      found && {
        uid: found.metadata.uid ?? '',
        current: isControlledBy(found, ordered.owner.uid),
        asksForThis: isCurrent(found, wanted),
        readAt: live.keep('certificate', name, found),
      }
    );
  },
  model: (state, { order: { plan } }, host) => {
    const found = leafOf(state, plan, host)?.issued?.certificate;
    if (!found || found.state === 'missing') return { state, answer: undefined };
    const [uid, asksForThis] = found.state === 'ours' ? [found.uid, found.current] : ['', false];
    const readAt = { object: 'certificate', name: issuedSecretName(plan), at: 'current' } as const;
    return { state, answer: { uid, current: found.state === 'ours', asksForThis, readAt } };
  },
});

/**
 * Judged again where the request is made: whatever an order says, an issuer is asked for no name that this installation
 * does not let the cluster have, unless our Certificate, as it was read, asks it for that name by now.
 *
 * @throws {StepError} CertificateNamesRefused
 */
function wantedFor({ order, owner }: Ordered, live: Live, found?: CertManagerCertificate): CertManagerCertificate {
  const { name: cluster, namespace = '' } = live.cluster.metadata;
  const { plan, issuerRef } = order;
  const own = plan.peer === undefined ? [] : memberLeaves({ namespace, cluster }, plan.peer).flatMap(namesOf);
  const others = namesOf(plan).filter((name) => !own.includes(name));
  const asked = found && isControlledBy(found, owner.uid) ? { asked: askedBy(found.spec) } : {};
  const refused = namesRefused(others, { namespace, cluster, issuerRef, ...asked }, live.nameAllowances ?? []);
  if (refused.length > 0) {
    const name = issuedSecretName(plan);
    throw needsPerson(
      'CertificateNamesRefused',
      curedBy(
        `Certificate ${name} would ask for ${refused.join(', ')}, which this installation does not let the cluster have`,
        'remove them from spec.tls.dnsNames',
      ),
    );
  }
  return certificateFor(live.cluster, order, referenceTo(owner, live));
}

function namesOf({ dnsNames, ipAddresses }: LeafPlan): readonly string[] {
  return [...dnsNames, ...ipAddresses];
}

function leafOf<S>(state: S, { secretName }: LeafPlan, host: Host<S>): LeafView | undefined {
  return host.certificates.leaves(state).find(({ plan }) => plan.secretName === secretName);
}

/** By POST where nothing was asked yet, else by PUT over exactly what was read. */
export const orderCertificate = defineRequest('orderCertificate', {
  words: ({ order: { plan } }: Ordered & { readonly readAt?: ReadAt }) =>
    `asks cert-manager for ${issuedSecretName(plan)}`,
  writes: ({ order: { plan }, readAt }) => ({
    fence: readAt ? 'version' : 'absent',
    object: 'certificate',
    name: issuedSecretName(plan),
  }),
  live: async ({ readAt, ...ordered }, live): Promise<void> => {
    const { kube, kept, signal } = live;
    const found = readAt && kept<CertManagerCertificate>(readAt);
    const wanted = wantedFor(ordered, live, found);
    try {
      if (!found) await kube.create(certificateResource, wanted, { signal });
      else await writeBack(live, certificateResource, corrected(found, wanted));
    } catch (error) {
      throw asChanged(error, `Certificate ${wanted.metadata.name}`);
    }
  },
  model: (state, { order: { plan, issuerRef }, readAt }, host) => {
    const issued = leafOf(state, plan, host)?.issued;
    if (!issued) return { state, answer: undefined };
    const found = issued.certificate ?? { state: 'missing' };
    requireAsRead(host, `Certificate ${issued.name}`, { readAt, isThere: found.state !== 'missing' });
    const { uid, createdAt } =
      found.state === 'ours' ? found : { uid: `certificate-${issued.name}`, createdAt: host.certificates.now(state) };
    const said = { state: 'issuing', reason: 'NotObserved', message: 'it was not looked at yet' } as const;
    const asked = { issuerRef: { ...issuerDefaults, ...issuerRef }, names: namesOf(plan) };
    const certificate = { state: 'ours', uid, asked, current: true, createdAt, said } as const;
    return {
      state: host.certificates.putIssued(state, plan.secretName, { ...issued, certificate }),
      answer: undefined,
    };
  },
});

export interface IssuedRead {
  readonly state: Exclude<SecretState, 'missing'>;
  /** Whether it goes with the Certificate that was asked for. */
  readonly owned: boolean;
  readonly readAt: ReadAt;
}

/** `certificateUid`: of the Certificate of the same name; absent: there is none. */
interface OfCertificate {
  readonly name: string;
  readonly certificateUid?: string;
}

/** Whose the Secret is that cert-manager writes, or would take over. */
export const readIssued = defineRequest('readIssued', {
  words: ({ name }: OfCertificate) => `sees whose Secret ${name} is`,
  live: async ({ name, certificateUid: uid }, live): Promise<IssuedRead | undefined> => {
    const found = await getOne<Secret>(live, resources.secrets, name);
    const certificate = uid === undefined ? ({ state: 'missing' } as const) : ({ state: 'ours', uid } as const);
    const state = issuedSecretState(live.cluster.metadata.name, name, found, certificate);
    if (!found || state === 'missing') return undefined;
    return { state, owned: uid !== undefined && isOwnedBy(found, uid), readAt: live.keep('secret', name, found) };
  },
  model: (state, { name }, host) => {
    const found = named(state, name, host)?.issued;
    if (!found || found.secret === 'missing') return { state, answer: undefined };
    const readAt = { object: 'secret', name, at: 'current' } as const;
    return { state, answer: { state: found.secret, owned: found.owned, readAt } };
  },
});

function named<S>(state: S, name: string, host: Host<S>): (LeafView & { readonly issued: IssuedView }) | undefined {
  for (const leaf of host.certificates.leaves(state)) {
    if (leaf.issued?.name === name) return { ...leaf, issued: leaf.issued };
  }
  return undefined;
}

/**
 * cert-manager keeps the Secrets of deleted Certificates, keys and all; with its Certificate as owner, a Secret goes
 * too.
 */
export const adoptIssued = defineRequest('adoptIssued', {
  words: ({ readAt: { name } }: { readonly readAt: ReadAt; readonly certificateUid: string }) =>
    `lets Secret ${name} go with its Certificate`,
  writes: ({ readAt }) => secretWritten(readAt.name, readAt),
  live: async ({ readAt, certificateUid }, live): Promise<void> => {
    const secret = live.kept<Secret>(readAt);
    const { ownerReferences = [] } = secret.metadata;
    const owners = [...ownerReferences, certificateOwner(readAt.name, certificateUid)];
    const wanted = { ...secret, metadata: { ...secret.metadata, ownerReferences: owners } };
    try {
      await writeBack<Secret>(live, resources.secrets, wanted);
    } catch (error) {
      throw asChanged(error, `Secret ${readAt.name}`);
    }
  },
  model: (state, { readAt }, host) => {
    const leaf = named(state, readAt.name, host);
    requireAsRead(host, `Secret ${readAt.name}`, { readAt, isThere: leaf !== undefined });
    if (!leaf) return { state, answer: undefined };
    const issued = { ...leaf.issued, owned: true };
    return { state: host.certificates.putIssued(state, leaf.plan.secretName, issued), answer: undefined };
  },
});
