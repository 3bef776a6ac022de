import type { EtcdCluster, EtcdClusterSpec } from '../api/etcd-cluster.ts';
import type { EtcdPeer, EtcdPeerSpec, PeerBootstrap } from '../api/etcd-peer.ts';
import { imageDefaults, tlsDefaults } from '../api/spec-defaults.ts';
import { formatVersion, parseVersion } from '../api/version.ts';
import { labelsOf, peerName } from './names.ts';
import { ownerReference } from './owner-reference.ts';

/** A cluster's spec as far as it can be honoured, with what its members must have loaded, or read. */
export type EffectiveSpec = Omit<EtcdClusterSpec, 'tls'> & {
  readonly tls?: NonNullable<EtcdClusterSpec['tls']> &
    Pick<EtcdPeerSpec['tls'], 'trust' | 'revocations' | 'allowedNames' | 'clientNames'>;
};

/** What a member is made from: its peer's spec without what says which member it is. */
export type PeerInputs = Omit<EtcdPeerSpec, 'clusterName' | 'ordinal' | 'bootstrap'>;

/** Fields that no member is made from, and what reads them. A field that no peer has needs a row to compile. */
export const ofTheCluster = {
  auth: "etcd's users and roles: keep-users",
  bootstrap: 'what the first member starts with: be-born, begin-from-snapshot, take-over',
  replicas: 'how many members there are: scale, hibernate',
  healing: 'how long a member may be down, and who decides that it is given up: heal, unstick-pod',
  defragmentation: 'when a member is defragmented: defragment',
  volumeRetention: 'what becomes of volumes: finish-deletion, finish-removal, delete-replaced',
  disruption: 'what a drain may do: the disruption budget',
  maintenance: 'when a change of working members may begin: wait-for-window',
  networkPolicy: 'from where members are reached: the NetworkPolicy',
  service: 'whether clients come from outside: the Service for them',
  rollback: 'what the cluster goes back to: roll-back',
  backup: 'what is backed up before a change: back-up-first',
  suspend: 'whether anything is done: stay-suspended',
  update: 'when members get another version: upgrade',
} as const satisfies Readonly<Record<Exclude<keyof EtcdClusterSpec, keyof PeerInputs>, string>>;

/** Every field that a peer has of its cluster. A new one of a peer that is not made here does not compile. */
const made: { readonly [K in keyof Required<PeerInputs>]: (spec: EffectiveSpec) => PeerInputs[K] } = {
  version: ({ version }) => formatVersion(parseVersion(version)),
  // With the API's own default, for a spec that did not pass the API server.
  image: ({ image }) => ({ ...imageDefaults, ...image }),
  storage: ({ storage }) => storage,
  etcd: ({ etcd }) => etcd,
  tls: ({ tls }) => peerTls(tls),
  resources: ({ resources }) => resources,
  podTemplate: ({ podTemplate }) => podTemplate,
};

/** What a cluster's effective spec means for each of its members. */
export function peerInputs(effective: EffectiveSpec): PeerInputs {
  const fields = Object.entries(made).map(([field, make]) => [field, make(effective)] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as PeerInputs;
}

/** Fields about the certificates themselves, which restart no member; a new field of `spec.tls` needs a row. */
export const ofTheCertificates = {
  dnsNames: 'certify',
  certificateLifetime: 'certify',
  rotationOverlap: 'renew-authorities',
  managed: 'certify',
  revokedClientSerials: 'support-members',
  gatewayClient: 'certify',
  certManager: 'ask-cert-manager',
  provided: 'check-certificates',
} as const satisfies Readonly<
  Record<Exclude<keyof NonNullable<EtcdClusterSpec['tls']>, keyof EtcdPeerSpec['tls']>, string>
>;

function peerTls(tls: EffectiveSpec['tls']): EtcdPeerSpec['tls'] {
  const { mode = tlsDefaults.mode, trust, peerSourceAddress, revokedClientSerials, revocations } = tls ?? {};
  // Of a spec that is refused the members' own ones stand here.
  const { allowedNames, clientNames } = { ...tls?.certManager, ...tls };
  const isAny = mode !== 'Disabled' && peerSourceAddress === 'Any';
  return {
    mode,
    ...(isAny && { peerSourceAddress }),
    ...(mode !== 'Disabled' && (revocations ?? revokedClientSerials) && { revocations: 'Listed' }),
    ...(mode === 'CertManager' && allowedNames && allowedNames !== 'Any' && namesLetIn(allowedNames, clientNames)),
    ...(trust !== undefined && { trust }),
  };
}

function namesLetIn(
  allowedNames: NonNullable<EtcdPeerSpec['tls']['allowedNames']>,
  names?: readonly string[],
): Pick<EtcdPeerSpec['tls'], 'allowedNames' | 'clientNames'> {
  const clientNames = sortedNames(names);
  return { allowedNames, ...(clientNames.length > 0 && { clientNames }) };
}

/** Each once, so that another order restarts no member, and voids no approval. */
export function sortedNames(names: readonly string[] = []): readonly string[] {
  return [...new Set(names)].toSorted();
}

/** The peer of this ordinal. Its spec holds all inputs of the member: what is built from it later needs no cluster. */
export function etcdPeer(
  cluster: EtcdCluster,
  effective: EffectiveSpec,
  ordinal: number,
  bootstrap: PeerBootstrap,
): EtcdPeer {
  const { name, namespace } = cluster.metadata;
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdPeer',
    metadata: {
      name: peerName(name, ordinal),
      ...(namespace !== undefined && { namespace }),
      labels: labelsOf(name),
      ownerReferences: [ownerReference('EtcdCluster', cluster)],
    },
    spec: { clusterName: name, ordinal, ...peerInputs(effective), bootstrap },
  };
}
