import { flagFields } from './flag-fields.ts';

/** Feature gates that are switched on for every member. */
export const ownGates: readonly string[] = ['InitialCorruptCheck', 'CompactHashCheck'];

/** By which flag 3.5 has each gate that it knows. */
export const gatesIn35: Readonly<Record<string, string>> = {
  CompactHashCheck: 'experimental-compact-hash-check-enabled',
  InitialCorruptCheck: 'experimental-initial-corrupt-check',
  LeaseCheckpoint: 'experimental-enable-lease-checkpoint',
  LeaseCheckpointPersist: 'experimental-enable-lease-checkpoint-persist',
  StopGRPCServiceOnDefrag: 'experimental-stop-grpc-service-on-defrag',
  TxnModeWriteWithSharedBuffer: 'experimental-txn-mode-write-with-shared-buffer',
};

/**
 * Flags that `extraArgs` can't set, and why. Flags of identity, membership, addresses or the data's place would undo
 * the seal; a flag with a field of its own must not have two values.
 */
export const reservedFlags: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(flagFields).flatMap(([field, flags]) =>
      Object.keys(flags).map((flag) => [flag, `use spec.etcd.${field}`]),
    ),
  ),
  name: 'it is the peer',
  'data-dir': 'it lies on the volume',
  'wal-dir': 'it lies on the volume',
  'config-file': 'etcd would ignore every other flag',
  'force-new-cluster': 'it belongs to an approved recovery',
  'strict-reconfig-check': 'it guards the quorum',
  'pre-vote': 'a member that comes back must not depose the leader',
  'unsafe-no-fsync': 'acknowledged writes would be lost',
  'max-learners': 'members join one at a time',
  proxy: 'members are no proxies',
  'feature-gates': 'use spec.etcd.featureGates',
  ...Object.fromEntries(Object.values(gatesIn35).map((flag) => [flag, 'use spec.etcd.featureGates'])),
  'corrupt-check-time': 'the corruption checks are set for you',
  'compact-hash-check-time': 'the corruption checks are set for you',
  'experimental-compact-hash-check-time': 'the corruption checks are set for you',
  'experimental-peer-skip-client-san-verification': 'use spec.tls.peerSourceAddress',
  'peer-skip-client-san-verification': 'use spec.tls.peerSourceAddress',
  'experimental-corrupt-check-time': 'the corruption checks are set for you',
  logger: 'logs go to the container',
  'log-outputs': 'logs go to the container',
  'enable-log-rotation': 'logs go to the container',
  'log-rotation-config-json': 'logs go to the container',
  'auto-tls': 'use spec.tls',
  'cert-file': 'use spec.tls',
  'key-file': 'use spec.tls',
  'trusted-ca-file': 'use spec.tls',
  'client-crl-file': 'use spec.tls.revokedClientSerials',
  version: 'etcd would print it and exit',
  help: 'etcd would print it and exit',
};

/** Most of these families have no field: the words promise none. */
const ofTls = 'certificates, and who is let in by them, follow spec.tls as a whole';

/** Whole families of flags, by how they begin. */
export const reservedPrefixes: Readonly<Record<string, string>> = {
  'initial-': 'bootstrap is recorded once and sealed',
  discovery: 'bootstrap is recorded once and sealed',
  'listen-': 'addresses follow the Services',
  'advertise-': 'addresses follow the Services',
  'socket-reuse-': 'two members must never share an address',
  'client-cert': ofTls,
  'client-key': ofTls,
  'peer-': ofTls,
  'self-signed-': ofTls,
};

/** Why this flag may not be set, or `undefined` when it may. */
export function reservedBecause(flag: string): string | undefined {
  if (Object.hasOwn(reservedFlags, flag)) return reservedFlags[flag];
  return Object.entries(reservedPrefixes).find(([prefix]) => flag.startsWith(prefix))?.[1];
}
