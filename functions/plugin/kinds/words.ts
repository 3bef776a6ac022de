import type { Kind } from '../../../manifests/api/group.ts';
import { type Resource, resources } from '../../../reconcile/interfaces/kube.ts';

/** A member's place is shown with its cluster. */
export type KindSeen = Exclude<Kind, 'EtcdPeer'>;

interface KindWord {
  /** What a person types before the slash: `fleet/production`. */
  readonly word: string;
  readonly resource: Resource;
}

/** How kinds are called on the command line. What is shown of them is another table over the same keys. */
export const kindWords: Readonly<Record<KindSeen, KindWord>> = {
  EtcdCluster: { word: 'cluster', resource: resources.clusters },
  EtcdFleet: { word: 'fleet', resource: resources.fleets },
  EtcdBackup: { word: 'backup', resource: resources.backups },
  EtcdBackupSchedule: { word: 'schedule', resource: resources.schedules },
  EtcdRestore: { word: 'restore', resource: resources.restores },
  EtcdNodePolicy: { word: 'nodepolicy', resource: resources.nodePolicies },
};
