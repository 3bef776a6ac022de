import type { IssuerRef } from '../../../../manifests/render/cert-manager-certificate.ts';
import type { Authority, LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import type { Remedy } from '../certificates/remedy.ts';
import type { Validity } from '../certificates/validity.ts';
import type { Ref } from '../ref.ts';

export type CertificatesAction =
  /** CAs that are missing. What members trusted so far stays trusted: it is read from the Secrets in `trustedIn`. */
  | {
      readonly kind: 'make-authorities';
      readonly token: string;
      readonly authorities: readonly { readonly authority: Authority; readonly trustedIn: readonly string[] }[];
      /** The person's request that this answers. */
      readonly request?: string;
      /** Signed with them at once, where no other CA was trusted before. */
      readonly leaves: readonly LeafOrder[];
      readonly validity: Validity;
    }
  /** Leaves, signed anew, or with other CAs to trust beside them. No key is ever part of an action. */
  | { readonly kind: 'issue-certificates'; readonly leaves: readonly LeafOrder[]; readonly validity: Validity }
  /** New CAs, cross-signed by those before them, which stay trusted until they are retired. */
  | {
      readonly kind: 'rotate-authorities';
      readonly authorities: readonly Authority[];
      readonly request?: string;
      readonly validity: Validity;
    }
  /** From now on every member presents leaves of these CAs: the time is recorded, because leaves are renewed later. */
  | { readonly kind: 'note-served'; readonly authorities: readonly Authority[]; readonly since: string }
  /** An issuer of cert-manager is asked to sign the client CA as well. `instead`: of a request that was refused. */
  | {
      readonly kind: 'request-intermediate';
      readonly order: IntermediateOrder;
      readonly instead?: string;
      readonly at: string;
    }
  /** What it signed goes into the Secret of the CA; `fingerprint`: of what was judged. */
  | {
      readonly kind: 'take-intermediate';
      readonly order: IntermediateOrder;
      readonly fingerprint: string;
      readonly at: string;
    }
  /** Volumes record that members let in names only. `seen`: leaves that were seen to have theirs. */
  | {
      readonly kind: 'take-names';
      /** Absent where other volumes say it already. */
      readonly approval?: string;
      readonly volumes: readonly Ref[];
      readonly allowedNames: 'Own' | 'Taken';
      readonly seen: readonly { readonly secretName: string; readonly fingerprint: string }[];
    }
  /** Only the newest CA stays trusted; members learn that at their next start. */
  | { readonly kind: 'retire-authorities'; readonly authorities: readonly Authority[] }
  /** Deletion with policy Delete: the CAs are deleted after the volumes. */
  | { readonly kind: 'delete-authorities'; readonly secrets: readonly Ref[] }
  /** Certificates of cert-manager: made, or corrected to request what is wanted. */
  | { readonly kind: 'request-certificates'; readonly requests: readonly CertificateOrder[] }
  /** Certificates that cert-manager issued are copied into the mounted Secrets, with the CAs to trust. */
  | {
      readonly kind: 'hand-over-certificates';
      readonly at: string;
      readonly trust: readonly TrustOrder[];
      readonly leaves: readonly HandOver[];
      /** Secrets of cert-manager that are to be deleted with their Certificates. */
      readonly adopt: readonly { readonly name: string; readonly certificateUid: string }[];
    };

export interface LeafOrder {
  readonly plan: LeafPlan;
  readonly remedy: Remedy;
  /** Of the peer that owns it; absent for what the cluster owns. */
  readonly peerUid?: string;
}

export interface CertificateOrder {
  readonly plan: LeafPlan;
  readonly issuerRef: IssuerRef;
  /** Milliseconds. */
  readonly lifetime: number;
  /** Of the peer that owns it; absent for what the cluster owns. */
  readonly peerUid?: string;
}

export interface IntermediateOrder {
  /** Of the CertificateRequest. */
  readonly name: string;
  readonly issuerRef: IssuerRef;
  /** The same in a word, for messages and records. */
  readonly issuer: string;
  /** Milliseconds. */
  readonly lifetime: number;
}

/** Which CAs the holders of this CA's leaves must trust: by fingerprint, to be found in the named Secrets. */
export interface TrustOrder {
  readonly authority: Authority;
  readonly fingerprints: readonly string[];
  readonly sources: readonly string[];
}

export interface HandOver {
  readonly plan: LeafPlan;
  /** Of the leaf that was inspected; absent: only the CAs beside the present one change. */
  readonly fingerprint?: string;
  /** The Secret that it is in. */
  readonly source?: string;
  readonly peerUid?: string;
}
