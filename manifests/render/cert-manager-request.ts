import { issuerDefaults } from '../api/spec-defaults.ts';
import type { KubeCondition, KubeObject, OwnerReference } from '../kube-types.ts';
import { goDuration, type IssuerRef } from './cert-manager-certificate.ts';
import { type Said, said } from './cert-manager-state.ts';
import { labelsOf } from './names.ts';

/**
 * What an issuer of cert-manager is asked for about a CA of ours: one signature, on a request that we made. The key
 * stays where it is.
 */

export const certificateRequestResource = {
  apiVersion: 'cert-manager.io/v1',
  kind: 'CertificateRequest',
  plural: 'certificaterequests',
} as const;

/** The part of cert-manager's kind that we write or look at. Its spec never changes. */
export interface CertificateRequest extends KubeObject {
  readonly spec: {
    /** PEM, base64. */
    readonly request: string;
    readonly issuerRef: IssuerRef;
    readonly isCA?: boolean;
    readonly usages?: readonly string[];
    readonly duration?: string;
  };
  readonly status?: {
    readonly conditions?: readonly KubeCondition[];
    /** PEM, base64: what was signed, then what leads to the CA. */
    readonly certificate?: string;
    /** PEM, base64. */
    readonly ca?: string;
  };
}

export interface AuthorityRequestInputs {
  readonly name: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly owner: OwnerReference;
  readonly issuerRef: IssuerRef;
  /** Milliseconds; counted in whole seconds. */
  readonly lifetime: number;
  /** PEM. */
  readonly request: string;
}

/** The usages are those of the request: cert-manager compares them. */
export function authorityRequest(inputs: AuthorityRequestInputs): CertificateRequest {
  const { name, cluster, namespace, owner, issuerRef, lifetime, request } = inputs;
  return {
    apiVersion: certificateRequestResource.apiVersion,
    kind: certificateRequestResource.kind,
    metadata: { name, namespace, labels: labelsOf(cluster), ownerReferences: [owner] },
    spec: {
      request: Buffer.from(request).toString('base64'),
      issuerRef: { ...issuerDefaults, ...issuerRef },
      isCA: true,
      usages: ['cert sign', 'crl sign'],
      duration: goDuration(lifetime),
    },
  };
}

export type RequestState =
  | { readonly state: 'signed'; readonly certificate: string; readonly ca?: string }
  | ({ readonly state: 'pending' } & Said)
  /** For good: cert-manager does not try it again. */
  | ({ readonly state: 'failed' } & Said);

/** Reads cert-manager's conditions, and those of whatever approves requests. */
export function requestState({ metadata, status = {} }: CertificateRequest): RequestState {
  const { conditions = [], certificate, ca } = status;
  const of = (type: string) => conditions.find((one) => one.type === type);
  const ready = of('Ready');
  if (ready?.status === 'True' && certificate) {
    return { state: 'signed', certificate, ...(ca !== undefined && ca !== '' && { ca }) };
  }
  const refusal = ['Denied', 'InvalidRequest'].map(of).find((one) => one?.status === 'True');
  if (refusal) return { state: 'failed', ...said(refusal) };
  if (ready?.status === 'False' && ready.reason === 'Failed') return { state: 'failed', ...said(ready) };
  if (ready) return { state: 'pending', ...said(ready) };
  const { namespace = '', name } = metadata;
  const message = of('Approved')
    ? 'it is approved, and its issuer has not answered yet'
    : `CertificateRequest ${namespace}/${name} is not approved yet: see that cert-manager runs, and what approves its requests`;
  return { state: 'pending', reason: 'NotObserved', message };
}
