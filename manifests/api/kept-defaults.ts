import type { FleetKind } from './fleet-kinds.ts';
import { replacedDefaults, retentionDefaults, tlsDefaults } from './spec-defaults.ts';

const ofClusters = {
  suspend: false,
  tls: { mode: tlsDefaults.mode },
  volumeRetention: { ...retentionDefaults, whenReplaced: replacedDefaults },
} as const;

/**
 * The defaults that the API server writes into specs (`keepsDefault`), for code that does not load the schemas: they
 * are live although no client set them.
 */
export const keptDefaults = {
  EtcdCluster: ofClusters,
  EtcdBackup: {},
  EtcdBackupSchedule: { suspend: false },
  EtcdRestore: { cluster: { spec: ofClusters } },
  EtcdNodePolicy: { suspend: false },
} as const satisfies Readonly<Record<FleetKind, Readonly<Record<string, unknown>>>>;
