import type { Storage } from '../../../../manifests/api/member-settings.ts';
import type { SealedDisk } from '../../../../manifests/render/sealed-disk.ts';
import type { Ref } from '../ref.ts';

export type VolumesAction =
  /** Deletion with policy Delete, once no pod is left. */
  | { readonly kind: 'delete-volumes'; readonly volumes: readonly Ref[] }
  /** Bootstrap ConfigMaps, made or corrected to match their volumes. */
  | { readonly kind: 'follow-volumes'; readonly peers: readonly string[] }
  /** Volumes are requested to grow. */
  | { readonly kind: 'grow-volumes'; readonly volumes: readonly (Ref & { readonly size: string })[] }
  /** A volume that was never bound is recreated in the storage class or size that the spec now asks for. */
  | { readonly kind: 'replace-unbound-volume'; readonly volume: Ref; readonly storage: Storage }
  /** The volume of a replaced member has been kept for as long as the spec says. */
  | {
      readonly kind: 'delete-replaced-volume';
      readonly volume: Ref;
      readonly memberId: string;
      readonly clusterId: string;
      /** The etcd cluster that it belonged to, where that was given up for the present one. */
      readonly gaveUp?: string;
    }
  /** Volumes record which disk is behind them. */
  | { readonly kind: 'note-disks'; readonly volumes: readonly NotedVolume[] }
  /** As a person approved, members go on with the disks that are behind their PVCs now. */
  | {
      readonly kind: 'accept-disks';
      readonly approval: string;
      readonly clusterId: string;
      /** `pv` is absent where nothing is behind it yet. */
      readonly volumes: readonly (Ref & { readonly memberId: string; readonly pv?: string })[];
    }
  /** Members on other disks are kept from starting, or stopped: the UIDs of the ConfigMaps and pods to delete. */
  | {
      readonly kind: 'bar-members';
      readonly members: readonly { readonly name: string; readonly configMap?: string; readonly pod?: string }[];
    };

interface NotedVolume extends Ref {
  /** The disk on which its member is proven to run; absent: the disk that is found when it is recorded. */
  readonly disk?: SealedDisk;
}
