import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import type { View } from './objects.ts';

export interface VolumeView extends View {
  readonly record:
    | { readonly kind: 'valid'; readonly record: VolumeRecord }
    | { readonly kind: 'invalid'; readonly problem: string };
  /** Whether it was ever bound to a PersistentVolume, which may hold data. */
  readonly bound: boolean;
  /** Its PersistentVolume is gone (`Lost`). */
  readonly lost: boolean;
  /** Absent while it is not bound. */
  readonly disk?: DiskView;
  /** `superseded` by the record of the others; its own PVC still says otherwise. */
  readonly unmarked?: true;
  /** Requested, a quantity. */
  readonly size: string;
  /** It is still smaller than it was asked to be. */
  readonly growing?: GrowthView;
  readonly storageClassName?: string;
}

/** The PersistentVolume of a PVC. All but its name is read only on an occasion (`read-disks.ts`), else `unknown`. */
export interface DiskView {
  /** As the PVC names it. */
  readonly pv: string;
  /** Of its driver, where that is a CSI driver and the PersistentVolume was read. */
  readonly handle?: string;
  /** When the PersistentVolume was made, where it was read: a pod that was scheduled before did not mount it. */
  readonly createdAt?: Date;
  /** `gone`: a GET by name proved that there is no such PersistentVolume. */
  readonly state: 'present' | 'gone' | 'unknown';
  /** Whether any Node object, cordoned, full or silent ones included, matches its node affinity. */
  readonly homes: 'some' | 'none' | 'unknown';
}

export interface GrowthView {
  /** In Kubernetes' word, like `FileSystemResizePending`; empty until its driver has said anything. */
  readonly phase: string;
  /** What the driver says of it; empty where it says nothing. */
  readonly message: string;
  /** The driver has given up. */
  readonly infeasible: boolean;
}
