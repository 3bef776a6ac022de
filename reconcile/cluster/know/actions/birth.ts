import type { Authority, LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import type { Validity } from '../certificates/validity.ts';
import type { Ref } from '../ref.ts';
import type { Inputs } from '../spec/inputs.ts';

export type BirthAction =
  /** Services, the disruption budget and the network policy: made or corrected. */
  | ({ readonly kind: 'apply-shared' } & SharedOrder)
  /** Labels that another tool removed, and that lists, Services and the disruption budget need. */
  | { readonly kind: 'restore-labels'; readonly objects: readonly LabelledRef[] }
  /** Birth: every volume, then every peer, then every ConfigMap, as recorded; nothing is started yet. */
  | {
      readonly kind: 'prepare-members';
      readonly members: readonly { readonly name: string; readonly record: VolumeRecord }[];
      readonly inputs: Inputs;
      /** What a birth needs beside its members: made first, because members find each other by it. */
      readonly shared?: SharedOrder;
      /** Absent: another step starts them. */
      readonly starts?: FirstStart;
    }
  /** StatefulSets for peers that have none. */
  | { readonly kind: 'start-members'; readonly peers: readonly string[] }
  /** From now on these members can never start on an empty volume. */
  | {
      readonly kind: 'seal-members';
      readonly clusterId: string;
      readonly members: readonly SealedMember[];
      /** With these the birth is over: then the Service for clients is made. */
      readonly opens?: true;
      /** Of the disruption budget that is made with it; absent: it needs none, or is right. */
      readonly minAvailable?: number;
      /** The one that is sealed is a learner in sync: it becomes a voter. */
      readonly promotes?: true;
    };

export interface SharedOrder {
  readonly objects: readonly SharedObject[];
  readonly minAvailable: number;
  /** Serial numbers of certificates in use, which the list of refused clients leaves out; absent: none. */
  readonly leftOut?: readonly string[];
}

/** What members are started with, in the step that records them. */
export interface FirstStart {
  /** Absent: plaintext. */
  readonly certificates?: {
    /** CAs that are made first. */
    readonly authorities: readonly Authority[];
    readonly leaves: readonly LeafPlan[];
    readonly validity: Validity;
  };
  /** A learner, which is put on the member list before it is started; absent: a birth. */
  readonly joins?: { readonly url: string; readonly clusterId: string };
  /** The one member of a birth from a snapshot: it is not started, but the Job that makes its data. */
  readonly restores?: { readonly id: string; readonly source: string };
}

export interface LabelledRef extends Ref {
  readonly of: 'peer' | 'volume' | 'configMap' | 'statefulSet';
}

export interface SealedMember {
  readonly name: string;
  readonly memberId: string;
  /** What it runs. */
  readonly version: string;
  /** After a restore: the revision with which it begins. */
  readonly floor?: number;
}

export type SharedObject =
  | 'headless-service'
  | 'client-service'
  | 'disruption-budget'
  | 'network-policy'
  | 'external-service'
  | 'revocations'
  /** The spec wants none: ours is deleted. */
  | 'no-network-policy'
  | 'no-external-service'
  | 'no-revocations';
