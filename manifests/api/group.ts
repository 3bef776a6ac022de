/** The API group of our kinds. Nothing but constants, so that reading them costs no schema library. */
export const group = 'etcd.ratchet.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;

export const kinds = [
  'EtcdFleet',
  'EtcdCluster',
  'EtcdPeer',
  'EtcdBackup',
  'EtcdBackupSchedule',
  'EtcdRestore',
  'EtcdNodePolicy',
] as const;
export type Kind = (typeof kinds)[number];

/** What kubectl knows a kind by besides, as in `kubectl get ec`. */
export const shortNames = {
  EtcdFleet: ['ef'],
  EtcdCluster: ['etcdc', 'ec'],
  EtcdPeer: ['epeer'],
  EtcdBackup: ['ebk'],
  EtcdBackupSchedule: ['ebs'],
  EtcdRestore: ['ers'],
  EtcdNodePolicy: ['enp'],
} as const satisfies Readonly<Record<Kind, readonly string[]>>;
