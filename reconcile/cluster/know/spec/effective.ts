import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { ClusterSetAside } from '../../../../manifests/api/etcd-cluster-status.ts';
import type { PodTemplate } from '../../../../manifests/api/member-settings.ts';
import { refusedInPods } from '../../../../manifests/api/pod-template.ts';
import { dotted } from '../../../../manifests/api/problem.ts';
import { parseQuantity, type Quantity } from '../../../../manifests/api/quantity.ts';
import { MiB, mostQuota } from '../../../../manifests/api/quota-room.ts';
import { reservedBecause } from '../../../../manifests/api/reserved-flags.ts';
import { issuerDefaults } from '../../../../manifests/api/spec-defaults.ts';
import { peerInputs } from '../../../../manifests/render/peer.ts';
import { byForce, endsByForce, graceField, withoutGrace } from '../../../../manifests/render/pod-template-limits.ts';
import { reservedInClaim } from '../../../../manifests/render/volume-claim.ts';
import { toldIn } from '../../../reasons/cure.ts';
import { refusalIn } from '../../../reasons/refusals.ts';
import { existingRemoved } from '../adoption/kept.ts';
import type { WantedAuth } from '../auth/wanted.ts';
import { rollbackRefusal } from '../backups/rollback-refusal.ts';
import { effectiveTrust } from '../certificates/trust.ts';
import { refusedNames } from '../certificates/wanted.ts';
import type { Life } from '../life.ts';
import type { Observation, Shared, Slot } from '../observation.ts';
import { judgeVersion, type Pending } from '../versions/effective-version.ts';
import { flagsReserved } from '../versions/version-refusals.ts';
import { type Allowing, serviceNotAllowed, templateNotAllowed } from './allowed.ts';
import { judgeAuth } from './effective-auth.ts';
import { judgeImage } from './effective-image.ts';
import { judgeVolumes } from './effective-storage.ts';
import { judgeTls } from './effective-tls.ts';
import type { Inputs } from './inputs.ts';
import type { Judged, Refusal } from './refusal.ts';

/**
 * The spec as far as it can be applied: a wish that cannot be fulfilled stays at its last good value and is named in
 * `refusals`.
 *
 * Every later rule works with this, so a bad commit never stops the healing of a cluster.
 */
export interface Effective {
  readonly inputs: Inputs;
  /** Members that should exist: the number of the spec, and during a birth the recorded number. */
  readonly replicas: number;
  readonly refusals: readonly Refusal[];
  /** For members that are added to a healthy cluster: as the spec says, also where existing volumes cannot follow. */
  readonly newStorage: Inputs['storage'];
  /** The Service for clients outside is neither made nor changed: the installation does not allow what is wanted. */
  readonly keepsService: boolean;
  /** etcd's users and roles, where they are kept. */
  readonly auth?: WantedAuth;
  /** What must precede the next minor that the spec asks for. */
  readonly pending?: Pending;
  /** The image of `inputs` is refused, and no member has another: nothing may be made of it. */
  readonly unfit?: Refusal;
}

export function effectiveSpec(
  observation: Pick<Observation, 'cluster' | 'slots' | 'certificates'> & {
    readonly shared: Pick<Shared, 'revocations'>;
  } & Partial<
      Pick<
        Observation,
        'clusterVersion' | 'membership' | 'inherited' | 'namedBackups' | 'nameAllowances' | 'egress' | 'auth'
      >
    > & {
      readonly refused?: readonly ClusterSetAside[];
    },
  life: Life,
): Effective {
  const { cluster, slots } = observation;
  const { spec } = cluster;
  const trust = effectiveTrust(observation);
  const tls = judgeTls(observation, life);
  const names = judgeNames(observation, tls.value.mode);
  const size = judgeGrowth(observation.refused, slots) ?? judgeSize(spec.storage.size, slots);
  const volumes = judgeVolumes(spec, { slots, life, namespace: cluster.metadata.namespace ?? '' });
  const allowing = { lists: observation.egress?.lists, namespace: cluster.metadata.namespace ?? '' };
  const image = judgeImage(spec, slots, { plan: judgeVersion(observation), allowing });
  const version = image.plan;
  const service = serviceNotAllowed(spec, allowing);
  const template = judgeTemplate(spec, slots, allowing);
  const rollback = rollbackRefusal(observation, life);
  const removed = existingRemoved(observation);
  const etcd = judgeQuota(spec, size.value, slots);
  const auth = judgeAuth(observation, { mode: tls.value.mode, version: version.value });
  const reserved = Object.keys(spec.etcd?.extraArgs ?? {}).filter((flag) => reservedBecause(flag) !== undefined);
  const { podTemplate: _, ...rest } = spec;
  const effective = {
    ...rest,
    ...(image.value && { image: image.value }),
    ...(template.value && { podTemplate: template.value }),
    ...(etcd.value && { etcd: etcd.value }),
    version: version.value,
    tls: { ...tls.value, ...(trust !== undefined && tls.value.mode !== 'Disabled' && { trust }) },
    storage: { ...volumes.kept, size: size.value },
  };
  return {
    inputs: peerInputs(effective),
    replicas: replicasOf(spec.replicas, life),
    keepsService: service !== undefined,
    newStorage: { ...spec.storage, size: size.value },
    refusals: [
      ...[version, tls, size, image, template, etcd, auth].flatMap(({ refusal }) => refusal ?? []),
      ...(reserved.length > 0 ? [flagsReserved(reserved)] : []),
      ...(names ? [names] : []),
      ...(service ? [service] : []),
      ...volumes.refusals,
      ...(rollback ? [rollback] : []),
      ...(removed ? [removed] : []),
    ],
    ...(auth.value && { auth: auth.value }),
    ...(version.pending && { pending: version.pending }),
    ...(image.unfit && { unfit: image.unfit }),
  };
}

/** A birth is finished as it was recorded; later changes of the spec come after it. None: the cluster hibernates. */
function replicasOf(wanted: number, life: Life): number {
  return life.stage === 'birth' ? life.record.initialCluster.length : wanted;
}

/** An issuer that signs for a whole company would otherwise sign any name for the author of any spec. */
function judgeNames(
  { cluster, nameAllowances = [] }: Parameters<typeof effectiveSpec>[0],
  mode: Inputs['tls']['mode'],
): Refusal | undefined {
  const refused = refusedNames(cluster, mode, nameAllowances);
  const { name = '', kind = issuerDefaults.kind } = cluster.spec.tls?.certManager?.issuerRef ?? {};
  if (refused.length === 0) return undefined;
  return {
    reason: 'CertificateNamesRefused',
    message: `this installation does not let this cluster ask ${kind} ${name} for ${refused.join(', ')}: certificates that have them keep them until you remove them from spec.tls.dnsNames, and no other certificate gets them`,
    cure: 'have the admin of the installation list them in RATCHET_CERTIFICATE_NAMES (docs/how-to/limit-tenants.md); or, if no client needs them, remove them from spec.tls.dnsNames',
    field: 'spec.tls.dnsNames',
  };
}

/**
 * Volumes that may not grow, because of their class or a quota: the size that every member has is also for the next
 * member and the quota, until the growth is tried again.
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
  return {
    value: smallest,
    refusal: { reason: refusalIn(entry.reason), ...toldIn(entry.message), field: 'spec.storage.size' },
  };
}

/** A volume can grow, and never shrink. A size that no volume ever had may be reverted. */
function judgeSize(wanted: Quantity, slots: readonly Slot[]): Judged<Quantity> {
  const sizes = slots.flatMap(({ volume }) => (volume?.bound ? [volume.size] : []));
  const largest = sizes.toSorted((a, b) => parseQuantity(a) - parseQuantity(b)).at(-1);
  if (largest === undefined || parseQuantity(wanted) >= parseQuantity(largest)) return { value: wanted };
  return {
    value: largest,
    refusal: {
      reason: 'VolumeShrinkRefused',
      message: `the volumes have ${largest}, and a volume cannot shrink to ${wanted}`,
      cure: `set spec.storage.size to ${largest}`,
      field: 'spec.storage.size',
    },
  };
}

/** A database that meets the end of its disk before its quota stops all members at once, and no alarm tells. */
function judgeQuota(
  { etcd }: EtcdClusterSpec,
  size: Quantity,
  slots: readonly Slot[],
): Judged<EtcdClusterSpec['etcd']> {
  const quota = etcd?.quotaBackendBytes;
  const most = mostQuota(parseQuantity(size));
  const before = slots.find(({ peer }) => peer?.current)?.peer?.inputs.etcd?.quotaBackendBytes;
  const isKept = quota !== undefined && before !== undefined && parseQuantity(quota) <= parseQuantity(before);
  if (quota === undefined || parseQuantity(quota) <= most || isKept) return { value: etcd };
  const { quotaBackendBytes: _, ...rest } = etcd ?? {};
  return {
    value: { ...rest, ...(before !== undefined && { quotaBackendBytes: before }) },
    refusal: {
      reason: 'QuotaRefused',
      message: `a database of ${quota} has no room on a volume of ${size} beside etcd's log: the disk would be full before the quota, on all members at once`,
      cure: `set spec.etcd.quotaBackendBytes to ${Math.floor(most / MiB)}Mi or less, or make spec.storage.size larger`,
      field: 'spec.etcd.quotaBackendBytes',
    },
  };
}

/**
 * Fields that would give the author of a spec our privileges, or take from a member what makes it part of this cluster.
 * The template that the members have stays; it passed the same check.
 */
function judgeTemplate(
  { podTemplate, storage }: EtcdClusterSpec,
  slots: readonly Slot[],
  allowing: Allowing,
): Judged<PodTemplate | undefined> {
  const [bad] = podTemplate ? refusedInPods(podTemplate, ['spec', 'podTemplate']) : [];
  const peer = slots.find((slot) => slot.peer?.current)?.peer;
  const before = peer?.inputs.podTemplate;
  if (bad) return { value: before, refusal: templateRefused(dotted(bad.path), bad.message) };
  const other = podTemplate && templateNotAllowed(podTemplate, allowing);
  if (other) return { value: before, refusal: other };
  if (endsByForce(podTemplate) && !endsByForce(before))
    // Of a resource that was created again, no peer says what its members had.
    return {
      value: peer ? before : withoutGrace(podTemplate),
      refusal: templateRefused(`spec.podTemplate.${graceField}`, `spec.podTemplate.${byForce}`),
    };
  const [claim] = reservedInClaim(storage);
  if (claim === undefined) return { value: podTemplate };
  const where = `spec.storage.volumeClaimTemplate.${claim.split(': ')[0]}`;
  return { value: podTemplate, refusal: templateRefused(where, `spec.storage.volumeClaimTemplate.${claim}`) };
}

function templateRefused(field: string, message: string): Refusal {
  return { reason: 'TemplateRefused', message: `refused: ${message}`, cure: `correct or remove ${field}`, field };
}
