import type { PeerBootstrap } from '../../../../manifests/api/etcd-peer.ts';
import type { Inputs } from '../spec/inputs.ts';

/** One per reason and object, however many events there are. */
export interface Warning {
  readonly object: 'pod' | 'statefulSet' | 'volume';
  readonly uid: string;
  /** Like `FailedMount`. Decisions use nothing else. */
  readonly reason: string;
  /** Of the most frequent event: its text, for people, safe to show and short. */
  readonly message: string;
  readonly since: Date;
  readonly at: Date;
  readonly count: number;
}

export interface View {
  readonly uid: string;
  /** It has a deletionTimestamp. */
  readonly leaving: boolean;
  /** It lacks the labels of the lists, and was read by its name. */
  readonly unlabelled?: true;
}

interface OwnedView extends View {
  /** Whether its controller is the living one; objects of a deleted namesake are not, and are being collected. */
  readonly current: boolean;
  /** No resource of ours controls it, so it is never collected: of another owner, or orphaned by a deletion. */
  readonly foreign?: true;
}

export interface PeerView extends OwnedView {
  readonly inputs: Inputs;
  readonly bootstrap: PeerBootstrap;
  /** As status told it last: it outlives the volume. */
  readonly memberId?: string;
  /** UID of an unbound volume that a step was about to replace. */
  readonly replacingVolume?: string;
  /**
   * When its member was last asked to defragment, and how often in a row that freed nothing, as far as is known.
   * `bareAt`: it was rewritten when all history before this revision was compacted away, and reports the size of its
   * content since then.
   */
  readonly defragmented?: { readonly at: Date; readonly vain: number; readonly bareAt?: bigint };
}

/** Its controller is the PVC. */
export interface ConfigMapView extends OwnedView {
  /** Made by an earlier release: its controller is still the peer, so it would outlive the PVC. */
  readonly byPeer?: true;
  readonly initialCluster: string;
  readonly initialClusterState: string;
  readonly immutable: boolean;
}

export interface StatefulSetView extends OwnedView {
  /** Of the inputs it was made from. */
  readonly inputsHash: string;
  /** The revision of a new pod; empty until its controller has seen it. */
  readonly updateRevision: string;
  /** At this generation its spec was found to be as we write it. Absent: it differs, or was not compared. */
  readonly oursAt?: number;
  readonly drift?: SetDrift;
}

/** The spec of a StatefulSet is not as we write it, or could not be compared. */
export type SetDrift =
  | {
      readonly kind: 'changed';
      /** Like `spec.template.spec.containers[etcd].image`, the first few. */
      readonly fields: readonly string[];
      /** The clients that wrote it, as they call themselves. */
      readonly by: string;
      /** How many pods it asks for, where that is not one. */
      readonly replicas?: number;
    }
  | {
      readonly kind: 'unknown';
      readonly cause: string;
      /** No answer, or one that may be another at the next look. */
      readonly mayPass?: true;
    };

export interface Shared {
  readonly headlessService: SharedView;
  readonly clientService: SharedView;
  readonly disruptionBudget: SharedView & { readonly minAvailable?: number };
  readonly networkPolicy: SharedView;
  readonly externalService: SharedView;
  /** `leftOut`: serial numbers that the list says it leaves out. */
  readonly revocations: SharedView & { readonly leftOut?: readonly string[] };
}

export interface SharedView {
  /**
   * `leftover`: of a deleted namesake of this cluster, being collected. `foreign`: of another owner, never collected.
   * `drifted`: not made from the present inputs.
   */
  readonly state: 'missing' | 'leftover' | 'foreign' | 'drifted' | 'present';
}
