import { group } from '../../../manifests/render/names.ts';

/** On an EtcdCluster whose volumes are to be deleted with it. */
export const volumesFinalizer = `${group}/volumes`;

/** On an EtcdCluster of which a last backup is owed when it is deleted. Once it is off, no step asks for one again. */
export const backupFinalizer = `${group}/backup`;

/** What each of them is for. */
export const finalizers = { volumes: volumesFinalizer, backup: backupFinalizer } as const;
export type Finalizer = keyof typeof finalizers;

/**
 * On an EtcdPeer: the UID of the unbound volume that is about to be recreated. It is set before the volume is deleted,
 * so that a crash in between does not look like the loss of a volume that held data.
 */
export const replacingVolume = `${group}/replacing-volume`;

/**
 * On an EtcdPeer: when its member was last asked to defragment, how often in a row that freed nothing, and, where no
 * history was left by then, at which revision: `<time> <count> [<revision>]`.
 */
export const defragmented = `${group}/defragmented`;
