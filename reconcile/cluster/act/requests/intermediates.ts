import type { Secret } from '../../../../manifests/kube-types.ts';
import {
  authorityRequest,
  type CertificateRequest,
  certificateRequestResource,
  requestState,
} from '../../../../manifests/render/cert-manager-request.ts';
import { authoritySecret } from '../../../../manifests/render/certificate-secret.ts';
import { ownerReference } from '../../../../manifests/render/owner-reference.ts';
import { isReason } from '../../../interfaces/kube.ts';
import { curedBy } from '../../../reasons/cure.ts';
import { conflict } from '../../../requests/refusals.ts';
import { intermediateKey } from '../../../x509/intermediate.ts';
import { requestFor } from '../../../x509/issue.ts';
import { authorityOf } from '../../../x509/secret-data.ts';
import type { IntermediateOrder } from '../../know/actions/certificates.ts';
import { kindText, notInstalled } from '../../know/certificates/cert-manager-trouble.ts';
import { mayBeSigned, refusedToSign } from '../../know/certificates/intermediate.ts';
import type { AuthorityView, SigningView } from '../../know/observation.ts';
import { moved, needsPerson } from '../../know/outcome.ts';
import { signingView } from '../../observe/certificates/signing.ts';
import { authorityView } from '../../observe/certificates/views.ts';
import { asChanged, requireAsRead, secretWritten, writeSecret } from './certificate-secrets.ts';
import type { Host } from './host.ts';
import { getOne } from './live.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** The client CA, signed by an issuer of cert-manager as well: what it is asked, and what it answers. */

const which = 'client';

interface Asked {
  readonly order: IntermediateOrder;
  /** Of the Secret of the CA. */
  readonly authority: ReadAt;
  /** When it was decided: ISO 8601. */
  readonly at: string;
}

export interface SigningRead {
  readonly signing: SigningView;
  readonly readAt: ReadAt;
}

export const readSigning = defineRequest('readSigning', {
  words: ({ order: { name } }: Asked) => `reads CertificateRequest ${name}`,
  live: async ({ order: { name }, authority, at }, live): Promise<SigningRead | undefined> => {
    const found = await getOne<CertificateRequest>(live, certificateRequestResource, name);
    if (!found) return undefined;
    const { facts } = authorityView(live, which, live.kept<Secret>(authority));
    const readAt = live.keep('certificateRequest', name, found);
    return { signing: signingView(live.cluster, found, facts, new Date(at)), readAt };
  },
  model: (state, { order: { name } }, host) => {
    const signing = authorityIn(state, host)?.signing;
    if (!signing || signing.state === 'missing' || signing.state === 'unknown') return { state, answer: undefined };
    const readAt = { object: 'certificateRequest', name, at: 'current' } as const;
    return { state, answer: { signing, readAt } };
  },
});

function authorityIn<S>(state: S, host: Host<S>): AuthorityView | undefined {
  return host.certificates.authority(state, which);
}

/**
 * Judged again where the request is made: an issuer is asked to sign no CA that this installation does not let the
 * cluster have. @throws {StepError} CertificateNamesRefused
 */
export const orderSigning = defineRequest('orderSigning', {
  words: ({ order: { issuer } }: Asked) => `asks ${issuer} to sign the client CA`,
  writes: ({ order: { name } }) => ({ fence: 'absent', object: 'certificateRequest', name }),
  live: async ({ order, authority }, live): Promise<void> => {
    const { cluster, kube, signal, nameAllowances } = live;
    if (!mayBeSigned(cluster, order, nameAllowances)) {
      const { message, cure } = refusedToSign(order);
      throw needsPerson('CertificateNamesRefused', curedBy(message, cure));
    }
    const { name, namespace = '' } = cluster.metadata;
    const request = await requestFor(authorityOf(live.kept<Secret>(authority).data ?? {}));
    const owner = ownerReference('EtcdCluster', cluster);
    const wanted = authorityRequest({ ...order, cluster: name, namespace, owner, request });
    try {
      await kube.create<CertificateRequest>(certificateRequestResource, wanted, { signal });
    } catch (error) {
      // No namespace goes away under a cluster that is there: it is the kind that is not.
      if (!isReason(error, 'NotFound')) throw asChanged(error, `CertificateRequest ${order.name}`);
      const missing = `the API server does not serve ${kindText(certificateRequestResource)}, to have the client CA signed`;
      const { reason, message, cure } = notInstalled(missing);
      throw needsPerson(reason, curedBy(message, cure));
    }
  },
  model: (state, { order: { name } }, host) => {
    const found = authorityIn(state, host);
    const signing = found?.signing ?? { state: 'missing' };
    if (!found) return { state, answer: undefined };
    if (signing.state !== 'missing') throw moved(`CertificateRequest ${name} has changed since it was read`);
    const said = { reason: 'NotObserved', message: 'it was not looked at yet' };
    const createdAt = host.certificates.now(state);
    const pending = { state: 'pending', uid: `request-${name}`, createdAt, said } as const;
    return { state: host.certificates.putAuthority(state, which, { ...found, signing: pending }), answer: undefined };
  },
});

/** What its issuer signed goes into the Secret of the CA, beside its key: trust and key stay as they are. */
export const takeSigned = defineRequest('takeSigned', {
  words: ({ order: { issuer } }: Asked & { readonly signed: ReadAt }) =>
    `takes what ${issuer} signed for the client CA`,
  writes: ({ authority }) => secretWritten(authority.name, authority),
  live: async ({ order: { issuer }, authority, signed }, live): Promise<void> => {
    const said = requestState(live.kept<CertificateRequest>(signed));
    if (said.state !== 'signed') throw moved(`CertificateRequest ${signed.name} is not signed any more`);
    const secret = live.kept<Secret>(authority);
    const record = { ...authorityView(live, which, secret).record, issuer };
    const data = { ...secret.data, [intermediateKey]: said.certificate };
    await writeSecret(live, authoritySecret(which, live.cluster, { token: '', ...record }, data), authority);
  },
  model: (state, { order: { issuer }, authority }, host) => {
    const found = authorityIn(state, host);
    requireAsRead(host, `Secret ${authority.name}`, { readAt: authority, isThere: found?.state === 'ours' });
    const [first, ...above] = found?.signing?.state === 'signed' ? found.signing.chain : [];
    if (!found?.facts || !first) return { state, answer: undefined };
    const facts = { ...found.facts, intermediate: { chain: [first, ...above] as const, current: true } };
    const record = { token: '', ...found.record, issuer };
    const { signing: _, ...rest } = found;
    return { state: host.certificates.putAuthority(state, which, { ...rest, facts, record }), answer: undefined };
  },
});

/** That very request. What is gone already is no error. */
export const dropSigning = defineRequest('dropSigning', {
  words: ({ order: { name } }: { readonly order: IntermediateOrder; readonly uid: string }) =>
    `deletes CertificateRequest ${name}`,
  writes: ({ order: { name } }) => ({ fence: 'uid', object: 'certificateRequest', name }),
  live: async ({ order: { name }, uid }, { kube, cluster, signal }): Promise<void> => {
    const { namespace } = cluster.metadata;
    await kube.delete(certificateRequestResource, namespace, name, { preconditions: { uid }, signal });
  },
  model: (state, { order: { name }, uid }, host) => {
    const found = authorityIn(state, host);
    const { signing } = found ?? {};
    if (!found || !signing || !('uid' in signing)) return { state, answer: undefined };
    if (signing.uid !== uid) throw conflict(`there is another ${name} by now`);
    const without = { ...found, signing: { state: 'missing' } as const };
    return { state: host.certificates.putAuthority(state, which, without), answer: undefined };
  },
});
