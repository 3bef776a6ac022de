/**
 * What holds where a field is left out, said once: the schema (and so the CRD and its descriptions) and what reads the
 * field take it from here. Apart from the schema, which not every invocation loads.
 */

export const imageDefaults = { repository: 'quay.io/coreos/etcd' } as const;

/** Of `spec.volumeRetention`, but for `whenReplaced`. */
export const retentionDefaults = { whenDeleted: 'Retain', whenScaled: 'Delete' } as const;

/** Of `spec.tls.issuerRef`. */
export const issuerDefaults = { kind: 'Issuer', group: 'cert-manager.io' } as const;

/** Of `spec.tls.certManager`. */
export const certManagerDefaults = { allowedNames: 'Any' } as const;

/** Of `spec.service`. */
export const externalServiceDefaults = { externalTrafficPolicy: 'Cluster' } as const;

/** Of `spec.bootstrap.existing`. */
export const existingDefaults = { clientPort: 2379 } as const;

/** Of `spec.networkPolicy`. */
export const networkPolicyDefaults = { mode: 'Enabled' } as const;

export const fleetDefaults = {
  path: '.',
  serviceAccountName: 'fleet',
  maxClustersInProgress: '10%',
  pullRequests: 'Enabled',
  comments: 'Enabled',
  forks: 'Labelled',
  untouched: 'Silent',
  mergeQueue: 'Disabled',
  verifyMode: 'Head',
} as const;

/** Of an EtcdBackup, and of the backups that a cluster asks for. */
export const backupDefaults = {
  verify: 'Restore',
  deadline: '1h',
  beforeUpgrade: 'Required',
  beforeHibernation: 'Never',
  beforeDeletion: 'Never',
} as const;

/** Of where backups are. */
export const storeDefaults = { compression: 'None', authentication: 'Default', bundleKey: 'ca.crt' } as const;

/** How long ago a backup may have ended when what it was taken before begins. Else it is taken again. */
export const awaitedBackupFresh = '1h';

/** Of a window in which something may begin. */
export const windowDefaults = { timeZone: 'UTC' } as const;

/** Of an EtcdNodePolicy. */
export const nodePolicyDefaults = {
  maxUnavailable: 1,
  skipDrain: false,
  clusterTimeout: '24h',
  sentinel: { path: '/var/run/reboot-required', every: '1h' },
  kured: { namespace: 'kube-system', daemonSet: 'kured' },
  drain: { timeout: '30m', unmanagedPods: 'Keep' },
  reboot: { method: 'DBus', timeout: '15m' },
} as const;

/** Of an EtcdBackupSchedule. */
export const scheduleDefaults = {
  timeZone: 'UTC',
  concurrencyPolicy: 'Forbid',
  retentionMode: 'Delete',
  history: { good: 3, failed: 3 },
} as const;

/** Of `spec.defragmentation`. */
export const defragmentationDefaults = { mode: 'Enabled', minReclaim: '256Mi', maxUsedPercent: 50 } as const;

/** Of `spec.healing`. */
export const healingDefaults = { mode: 'Automatic', podGracePeriod: '2m', memberGracePeriod: '10m' } as const;

/** Of `spec.volumeRetention.whenReplaced`. */
export const replacedDefaults = { policy: 'Delete', keepFor: '24h' } as const;

/** Of `spec.tls`. */
export const tlsDefaults = {
  mode: 'Managed',
  certificateLifetime: '2160h',
  authorityLifetime: '87600h',
  rotationOverlap: '10m',
} as const;
