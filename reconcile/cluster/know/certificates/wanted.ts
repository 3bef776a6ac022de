import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { tlsDefaults } from '../../../../manifests/api/spec-defaults.ts';
import type { TlsMode } from '../../../../manifests/api/tls-settings.ts';
import { type Asked, type NameAllowance, namesRefused } from '../../../../manifests/render/certificate-allowance.ts';
import {
  clusterLeaves,
  gatewayLeaf,
  issuedSecretName,
  type LeafPlan,
  memberLeaves,
  memberSecretName,
  type NamesOfLeaves,
  ownNamesOf,
  userLeaves,
} from '../../../../manifests/render/certificate-names.ts';
import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { hasDeparted, recordOf } from '../life.ts';
import type { ReadCertificates, Slot } from '../observation.ts';
import { asksForNames } from '../spec/names-asked.ts';

/**
 * The mode that the volumes were created with; before there are any, the mode of the spec. When the volumes are deleted
 * nothing records it any more: then the CAs are looked up, whatever the spec says by now.
 */
export function tlsModeOf(cluster: EtcdCluster, slots: readonly Slot[]): TlsMode {
  const born = bornMode(slots);
  if (born === undefined && cluster.metadata.deletionTimestamp !== undefined) return 'Managed';
  return born ?? cluster.spec.tls?.mode ?? tlsDefaults.mode;
}

/** The mode that the volumes were created with; `undefined`: there are none. */
export function bornMode(slots: readonly Slot[]): TlsMode | undefined {
  return slots.map(recordOf).find((record) => record !== undefined)?.tlsMode;
}

/**
 * Whether members let in names only, and since when: as all their volumes say. Where some don't, members that run with
 * names count, or that there are none: no annotation that a hand adds or takes away locks clients out, or opens.
 */
export function namesHeld(cluster: Pick<EtcdCluster, 'spec'>, slots: readonly Slot[]): VolumeRecord['allowedNames'] {
  const members = slots.flatMap(({ peer }) => (peer?.current ? [peer.inputs.tls] : []));
  if ((bornMode(slots) ?? members[0]?.mode) !== 'CertManager') return undefined;
  const records = countingOf(slots);
  const found = records.flatMap(({ allowedNames }) => allowedNames ?? []);
  const said = found.find((one) => one === 'Own') ?? found[0];
  if (said && (found.length === records.length || members.length === 0)) return said;
  const running = members.flatMap(({ allowedNames }) => allowedNames ?? []);
  if (said) return running.length > 0 ? said : undefined;
  return asksForNames(cluster) && running.length === members.length ? running[0] : undefined;
}

/** Of members that are there, or come: what is left of others says nothing of a cluster that is born beside it. */
function countingOf(slots: readonly Slot[]): readonly VolumeRecord[] {
  return slots.flatMap((slot) => (hasDeparted(slot) ? [] : (recordOf(slot) ?? [])));
}

/** Whether the spec asks for names that members don't let in by now. */
export function awaitsNames(cluster: Pick<EtcdCluster, 'spec'>, slots: readonly Slot[]): boolean {
  if (!asksForNames(cluster) || bornMode(slots) !== 'CertManager') return false;
  return countingOf(slots).length > 0 && namesHeld(cluster, slots) === undefined;
}

/** Whether volumes say it, and no member that is there was told yet. */
export function areToBeTold(cluster: Pick<EtcdCluster, 'spec'>, slots: readonly Slot[]): boolean {
  const members = slots.flatMap(({ peer }) => (peer?.current ? [peer.inputs.tls] : []));
  if (members.length === 0 || members.some(({ allowedNames }) => allowedNames)) return false;
  return namesHeld(cluster, slots) !== undefined;
}

/** The names in leaves by which members let certificates in, or will as soon as a person approves it. */
export function namesOfLeaves(cluster: EtcdCluster, slots: readonly Slot[], mode: TlsMode): NamesOfLeaves | undefined {
  const { name, namespace = '' } = cluster.metadata;
  const held = namesHeld(cluster, slots);
  if (mode !== 'CertManager' || !(held || asksForNames(cluster))) return undefined;
  const own = ownNamesOf({ namespace, cluster: name });
  if (awaitsNames(cluster, slots)) return { ...own, since: 'Ahead' };
  return held === 'Taken' ? { ...own, since: 'Approval' } : own;
}

/** What issuers may be asked for, and what the Certificate of a leaf asks for by now, if it is ours. */
export interface NamesAllowed {
  readonly allowances?: readonly NameAllowance[] | undefined;
  readonly asked?: (secretName: string) => Asked | undefined;
}

/** The further names of the spec that its issuer is not asked for: the installation does not let it have them. */
export function refusedNames(
  { metadata: { name, namespace = '' }, spec: { tls } }: EtcdCluster,
  mode: TlsMode,
  allowances: readonly NameAllowance[],
  asked?: Asked,
): readonly string[] {
  const { certManager: { issuerRef } = {}, dnsNames = [] } = tls ?? {};
  if (mode !== 'CertManager' || !issuerRef) return [];
  return namesRefused(dnsNames, { namespace, cluster: name, issuerRef, ...(asked && { asked }) }, allowances);
}

/**
 * The leaves that a cluster needs in this mode, ours first: etcd is asked with it. A name that is refused stays in the
 * plan of a leaf whose Certificate asks for it.
 */
export function wantedLeaves(
  cluster: EtcdCluster,
  slots: readonly Slot[],
  mode: TlsMode,
  { allowances = [], asked }: NamesAllowed = {},
): readonly LeafPlan[] {
  if (mode === 'Disabled') return [];
  const { name, namespace = '' } = cluster.metadata;
  const own = namesOfLeaves(cluster, slots, mode);
  const namesOf = (peer: string) => {
    const refused = refusedNames(cluster, mode, allowances, asked?.(memberSecretName(peer, 'server')));
    return (cluster.spec.tls?.dnsNames ?? []).filter((one) => !refused.includes(one));
  };
  const members = slots
    .filter(({ peer }) => peer?.current && !peer.leaving)
    .flatMap((slot) => memberLeaves({ namespace, cluster: name, dnsNames: namesOf(slot.name), own }, slot.name));
  // Users' last: a step that fails at one of them has written what members need.
  return [...leavesOfCluster(cluster, mode, own), ...members, ...leavesOfUsers(cluster, mode, own)];
}

/** The leaves that are neither a member's nor of a user of etcd, ours first. */
export function leavesOfCluster(
  { metadata: { name, namespace = '' }, spec }: Pick<EtcdCluster, 'metadata' | 'spec'>,
  mode: TlsMode,
  own?: NamesOfLeaves,
): readonly LeafPlan[] {
  const [reconciler, application, backup] = clusterLeaves(name, own);
  // With mode Provided the applications' certificates are the person's own matter.
  if (mode === 'Provided') return [reconciler];
  // Where members let in names, the gateway is off.
  const gateway = spec.tls?.gatewayClient === 'Enabled' && own === undefined;
  return [reconciler, application, backup, ...(gateway ? [gatewayLeaf({ namespace, cluster: name })] : [])];
}

/** Of each user that the spec lists, also while authentication is off: clients can have theirs before it is on. */
export function leavesOfUsers(
  { metadata: { name }, spec: { auth } }: Pick<EtcdCluster, 'metadata' | 'spec'>,
  mode: TlsMode,
  own?: NamesOfLeaves,
): readonly LeafPlan[] {
  if (mode !== 'Managed' && mode !== 'CertManager') return [];
  return userLeaves(
    name,
    (auth?.users ?? []).map((user) => user.name),
    own,
  );
}

/** What a cluster needs to be born, and members to start: what keeps a user's leaf from being made holds up neither. */
export function withoutUsers(read: ReadCertificates): ReadCertificates {
  return { ...read, leaves: read.leaves.filter(({ plan }) => plan.purpose !== 'user') };
}

/** The peer that a leaf is for; the cluster's own leaves have none. */
export function peerUidOf(slots: readonly Slot[], plan: LeafPlan): { readonly peerUid?: string } {
  const peer = slots.find(({ name }) => name === plan.peer)?.peer;
  return peer ? { peerUid: peer.uid } : {};
}

/**
 * The Secret from which a leaf of another signer comes: cert-manager's, or a person's. Members never mount it: its
 * content is inspected first, and handed over when every member can follow (`hand-over.ts`).
 */
export function sourceNameOf({ spec }: EtcdCluster, mode: TlsMode, plan: LeafPlan): string | undefined {
  if (mode === 'CertManager') return issuedSecretName(plan);
  if (mode !== 'Provided') return undefined;
  const { peerSecretName, serverSecretName, clientSecretName } = spec.tls?.provided ?? {};
  switch (plan.purpose) {
    case 'peer':
      return peerSecretName;
    case 'server':
      return serverSecretName;
    case 'reconciler':
      return clientSecretName;
    case 'application':
    case 'backup':
    case 'gateway':
    case 'user':
      return undefined;
  }
}
