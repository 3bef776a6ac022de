import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { tlsDefaults } from '../../../../manifests/api/spec-defaults.ts';
import type { TlsMode } from '../../../../manifests/api/tls-settings.ts';
import { type Asked, type NameAllowance, namesRefused } from '../../../../manifests/render/certificate-allowance.ts';
import {
  clusterLeaves,
  issuedSecretName,
  type LeafPlan,
  memberLeaves,
  memberSecretName,
  type NamesOfLeaves,
  ownNamesOf,
} from '../../../../manifests/render/certificate-names.ts';
import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { hasDeparted, recordOf, tlsForLife } from '../life.ts';
import type { Slot } from '../observation.ts';
import type { Inputs } from '../spec/inputs.ts';
import { asksForNames } from '../spec/names-asked.ts';

/**
 * The mode that the volumes were created with; before there are any, the mode of the spec. When the volumes are deleted
 * nothing records it any more: then the CAs are looked up, whatever the spec says by now.
 */
export function tlsModeOf(cluster: EtcdCluster, slots: readonly Slot[]): TlsMode {
  const born = bornTls(cluster, slots)?.tlsMode;
  if (born === undefined && cluster.metadata.deletionTimestamp !== undefined) return 'Managed';
  return born ?? cluster.spec.tls?.mode ?? tlsDefaults.mode;
}

/**
 * What was decided at birth, or approved since, as the volumes keep it. Where they differ, or say nothing of names,
 * spec and peers count as well: no annotation that a hand adds or takes away opens a cluster, or locks clients out.
 */
export function bornTls(
  cluster: Pick<EtcdCluster, 'spec'>,
  slots: readonly Slot[],
): ReturnType<typeof tlsForLife> | undefined {
  const records = slots.flatMap((slot) => recordOf(slot) ?? []);
  const [first] = records;
  if (first === undefined) return undefined;
  const allowedNames = first.tlsMode === 'CertManager' ? namesHeld(cluster, slots) : undefined;
  return { tlsMode: first.tlsMode, ...(allowedNames && { allowedNames }) };
}

function namesHeld(cluster: Pick<EtcdCluster, 'spec'>, slots: readonly Slot[]): VolumeRecord['allowedNames'] {
  const counting = slots.flatMap((slot) => (hasDeparted(slot) ? [] : (recordOf(slot) ?? [])));
  const found = counting.flatMap(({ allowedNames }) => allowedNames ?? []);
  const said = found.find((one) => one === 'Own') ?? found[0];
  if (said && found.length === counting.length) return said;
  const peers = slots.flatMap(({ peer }) => (peer?.current ? [peer.inputs.tls.allowedNames] : []));
  const isAsked = asksForNames(cluster);
  if (said) return isAsked || peers.length === 0 || peers.includes('Own') ? said : undefined;
  return isAsked && peers.includes('Own') ? 'Taken' : undefined;
}

interface Growing {
  readonly cluster: Pick<EtcdCluster, 'spec'>;
  readonly slots: readonly Slot[];
  readonly effective: { readonly inputs: Inputs };
}

/** Of a volume that is made: as the others have it, or as the cluster is to be born. */
export function tlsOfNew({ cluster, slots, effective }: Growing): ReturnType<typeof tlsForLife> {
  return bornTls(cluster, slots) ?? tlsForLife(effective.inputs);
}

/** The names in leaves by which members let certificates in, or will as soon as a person approves it. */
export function namesOfLeaves(cluster: EtcdCluster, slots: readonly Slot[], mode: TlsMode): NamesOfLeaves | undefined {
  const { name, namespace = '' } = cluster.metadata;
  const born = bornTls(cluster, slots);
  if (mode !== 'CertManager' || !(asksForNames(cluster) || born?.allowedNames)) return undefined;
  const own = ownNamesOf({ namespace, cluster: name });
  if (born && !born.allowedNames) return { ...own, since: 'Ahead' };
  return born?.allowedNames === 'Taken' ? { ...own, since: 'Approval' } : own;
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
  const [reconciler, application] = clusterLeaves(name, own);
  // With mode Provided the applications' certificate is the person's own matter.
  return mode === 'Provided' ? [reconciler, ...members] : [reconciler, application, ...members];
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
      return undefined;
  }
}
