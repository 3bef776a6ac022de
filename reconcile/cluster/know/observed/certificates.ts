import type { CertificateState } from '../../../../manifests/render/cert-manager-state.ts';
import type { Asked } from '../../../../manifests/render/certificate-allowance.ts';
import type { Authority, LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import type { AuthorityRecord } from '../../../../manifests/render/certificate-secret.ts';
import type { RefusalReason } from '../../../reasons/refusals.ts';
import type { LastingReason } from '../../../reasons/waits.ts';
import type { CertificateFacts } from '../../../x509/facts.ts';
import type { AuthorityFacts, LeafFacts } from '../../../x509/inspect.ts';
import type { Defect } from '../../../x509/judge.ts';

export type Certificates =
  /** A plaintext cluster has none. */
  | { readonly kind: 'none' }
  /** There was no reason to read all of them; one was read, by turns, and is sound. */
  | { readonly kind: 'unread' }
  | { readonly kind: 'unknown'; readonly cause: string }
  | {
      readonly kind: 'read';
      /** Those of etcd-ratchet; other modes have none. */
      readonly authorities: Partial<Readonly<Record<Authority, AuthorityView>>>;
      readonly leaves: readonly LeafView[];
      /** Whether cert-manager's resources can be read; absent where it is not used. */
      readonly certManager?: CertManagerView;
      /** Secrets of a person that the spec names and no leaf is made from yet: before any member is there. */
      readonly forMembersToCome?: readonly IssuedView[];
    };

export type CertManagerView = { readonly kind: 'known' } | ({ readonly kind: 'unknown' } & Trouble);

/** All certificates, read. */
export type ReadCertificates = Extract<Certificates, { kind: 'read' }>;

/** A Secret as it exists: missing, of another owner, of an earlier namesake and being collected, or ours. */
export type SecretState = 'missing' | 'foreign' | 'leftover' | 'ours';

export interface AuthorityView {
  readonly name: string;
  readonly state: SecretState;
  readonly uid?: string;
  readonly record?: AuthorityRecord;
  /** Absent when it cannot be read, or is no CA with its key: it cannot sign. */
  readonly facts?: AuthorityFacts;
  /** What an issuer of cert-manager makes of the request to sign it. Read where that is due. */
  readonly signing?: SigningView;
}

export type SigningView =
  | { readonly state: 'missing' | 'foreign' }
  | { readonly state: 'unknown'; readonly trouble: Trouble }
  | {
      readonly state: 'pending' | 'failed';
      readonly uid: string;
      readonly createdAt: Date;
      readonly said: { readonly reason: string; readonly message: string };
    }
  | {
      readonly state: 'signed';
      readonly uid: string;
      readonly createdAt: Date;
      readonly chain: readonly CertificateFacts[];
      /** Why it is of no use, after "what it signed". */
      readonly flaw?: string;
    };

/** Why something that others sign does not exist; without a cure it is being made. */
export type Trouble = { readonly message: string } & (
  | { readonly reason: RefusalReason; readonly cure: string }
  | { readonly reason: LastingReason; readonly cure?: undefined }
);

export interface LeafView {
  readonly plan: LeafPlan;
  readonly state: SecretState;
  /** Absent when it cannot be read. */
  readonly facts?: LeafFacts;
  /** Its defects, at the time of the observation. */
  readonly defects: readonly Defect[];
  /** Fingerprint of the certificate that its member presents; absent when it was not asked, or did not answer. */
  readonly served?: string;
  /** The certificate of cert-manager or of a person. Absent where we sign, and where cert-manager cannot be read. */
  readonly issued?: IssuedView;
  /** When that was last copied into this Secret. */
  readonly handedOverAt?: Date;
}

/** A Secret of another signer, and, where that is cert-manager, its Certificate of the same name. */
export interface IssuedView {
  readonly name: string;
  /** Absent where a person provides the Secret. */
  readonly certificate?: RequestedView;
  readonly secret: SecretState;
  /** Whether the Secret is deleted with its Certificate. */
  readonly owned: boolean;
  /** Absent when it cannot be read. */
  readonly facts?: LeafFacts;
  readonly defects: readonly Defect[];
}

export type RequestedView =
  | { readonly state: Exclude<SecretState, 'ours'> }
  | {
      readonly state: 'ours';
      readonly uid: string;
      readonly asked: Asked;
      /** Whether it requests what we want. */
      readonly current: boolean;
      readonly createdAt: Date;
      readonly said: CertificateState;
    };
