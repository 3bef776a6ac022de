import type { ClusterSetAside, EtcdClusterSpec } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdPeerSpec } from '../../manifests/api/etcd-peer.ts';
import type { PodTemplate } from '../../manifests/api/member-settings.ts';
import { refusedInPods } from '../../manifests/api/pod-template.ts';
import { dotted } from '../../manifests/api/problem.ts';
import { parseQuantity, type Quantity } from '../../manifests/api/quantity.ts';
import { tlsDefaults } from '../../manifests/api/tls-defaults.ts';
import { peerInputs } from '../../manifests/build/peer.ts';
import { reservedInClaim } from '../../manifests/build/volume-claim.ts';
import { effectiveTrust } from './certificates/trust.ts';
import { judgeVolumes } from './effective-storage.ts';
import { judgeVersion, type Pending } from './effective-version.ts';
import { type Life, recordOf } from './life.ts';
import type { Observation, Slot } from './observation.ts';
import { toldIn } from './outcome.ts';

/** What one member is made from: compared by hash, never by rendering. */
export type Inputs = Omit<EtcdPeerSpec, 'clusterName' | 'ordinal' | 'bootstrap'>;

/** Something the spec asks for that can't be done; the rest of the spec is honoured all the same. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
  readonly cure: string;
  readonly field: string;
}

/**
 * The spec as far as it can be honoured: what can't be done is left at its last good value and named in `refusals`.
 *
 * Every later rule works with this, so that a bad commit never stops the healing of a cluster.
 */
export interface Effective {
  readonly inputs: Inputs;
  /** Members that should exist: what the spec says, and during birth what was recorded. */
  readonly replicas: number;
  readonly refusals: readonly Refusal[];
  /** Of members that are added to a cluster that is well: as the spec says, also where the volumes that are there can't follow it. */
  readonly newStorage: Inputs['storage'];
  /** What comes before the next minor that the spec asks for. */
  readonly pending?: Pending;
}

interface Judged<T> {
  readonly value: T;
  readonly refusal?: Refusal;
}

export function effectiveSpec(
  observation: Pick<Observation, 'cluster' | 'slots' | 'certificates'> &
    Partial<Pick<Observation, 'clusterVersion' | 'membership'>> & { readonly refused?: readonly ClusterSetAside[] },
  life: Life,
): Effective {
  const { cluster, slots } = observation;
  const { spec } = cluster;
  const trust = effectiveTrust(observation);
  const version = judgeVersion(observation);
  const tls = judgeTls(spec, slots);
  const size = judgeGrowth(observation.refused, slots) ?? judgeSize(spec.storage.size, slots);
  const volumes = judgeVolumes(spec, { slots, life, namespace: cluster.metadata.namespace ?? '' });
  const template = judgeTemplate(spec, slots);
  const { podTemplate: _, ...rest } = spec;
  const effective = {
    ...rest,
    ...(template.value && { podTemplate: template.value }),
    version: version.value,
    tls: { ...tls.value, ...(trust !== undefined && tls.value.mode !== 'Disabled' && { trust }) },
    storage: { ...volumes.kept, size: size.value },
  };
  return {
    inputs: peerInputs(effective),
    replicas: replicasOf(spec.replicas, life),
    newStorage: { ...spec.storage, size: size.value },
    refusals: [...[version, tls, size, template].flatMap(({ refusal }) => refusal ?? []), ...volumes.refusals],
    ...(version.pending && { pending: version.pending }),
  };
}

/** A birth is finished as it was recorded; what the spec says meanwhile comes after it. None: it hibernates. */
function replicasOf(wanted: number, life: Life): number {
  return life.stage === 'birth' ? life.record.initialCluster.length : wanted;
}

/** Peer URLs carry the scheme for life, so the mode is the one that the volumes were born with. */
function judgeTls({ tls }: EtcdClusterSpec, slots: readonly Slot[]): Judged<Inputs['tls']> {
  const wanted = tls?.mode ?? tlsDefaults.mode;
  const born = slots.map(recordOf).find((record) => record !== undefined)?.tlsMode;
  if (born === undefined || born === wanted) return { value: { ...tls, mode: wanted } };
  return {
    // Of its own kind are the Secrets that the members name, not those of the spec.
    value: slots.find(({ peer }) => peer?.current)?.peer?.inputs.tls ?? { mode: born },
    refusal: {
      reason: 'TlsModeRefused',
      message: `the cluster was born with TLS mode ${born}, and its members' addresses say so for life`,
      cure: `set spec.tls.mode to ${born}`,
      field: 'spec.tls.mode',
    },
  };
}

/**
 * Volumes that may not grow, by their class or a quota: what every member has is what the next one gets, and what its quota follows,
 * until the growth is tried again.
 */
function judgeGrowth(
  refused: readonly ClusterSetAside[] | undefined,
  slots: readonly Slot[],
): Judged<Quantity> | undefined {
  const entry = refused?.find(({ action }) => action === 'grow-volumes');
  const [smallest] = slots
    .flatMap(({ peer, volume }) => (peer?.current && volume?.bound ? [volume.size] : []))
    .toSorted((a, b) => parseQuantity(a) - parseQuantity(b));
  if (!entry || smallest === undefined) return undefined;
  return { value: smallest, refusal: { reason: entry.reason, ...toldIn(entry.message), field: 'spec.storage.size' } };
}

/** A volume can grow, and never shrink. A size that no volume ever had may be taken back. */
function judgeSize(wanted: Quantity, slots: readonly Slot[]): Judged<Quantity> {
  const sizes = slots.flatMap(({ volume }) => (volume?.bound ? [volume.size] : []));
  const largest = sizes.toSorted((a, b) => parseQuantity(a) - parseQuantity(b)).at(-1);
  if (largest === undefined || parseQuantity(wanted) >= parseQuantity(largest)) return { value: wanted };
  return {
    value: largest,
    refusal: {
      reason: 'VolumeShrinkRefused',
      message: `the volumes have ${largest}, and a volume can not shrink to ${wanted}`,
      cure: `set spec.storage.size to ${largest}`,
      field: 'spec.storage.size',
    },
  };
}

/**
 * What would lend our privileges to the author of a spec, or take from a member what makes it this cluster's. The template
 * that the members have stays; it went through the same judgement.
 */
function judgeTemplate(
  { podTemplate, storage }: EtcdClusterSpec,
  slots: readonly Slot[],
): Judged<PodTemplate | undefined> {
  const [bad] = podTemplate ? refusedInPods(podTemplate, ['spec', 'podTemplate']) : [];
  if (bad) {
    const value = slots.find(({ peer }) => peer?.current)?.peer?.inputs.podTemplate;
    return { value, refusal: templateRefused(dotted(bad.path), bad.message) };
  }
  const [claim] = reservedInClaim(storage);
  if (claim === undefined) return { value: podTemplate };
  const where = `spec.storage.volumeClaimTemplate.${claim.split(': ')[0]}`;
  return { value: podTemplate, refusal: templateRefused(where, `spec.storage.volumeClaimTemplate.${claim}`) };
}

function templateRefused(field: string, message: string): Refusal {
  return { reason: 'TemplateRefused', message: `refused: ${message}`, cure: `correct or remove ${field}`, field };
}
