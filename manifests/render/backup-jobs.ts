import { parseDuration } from '../api/duration.ts';
import type { EtcdBackup } from '../api/etcd-backup.ts';
import { type ObjectLocation, urlOf } from '../api/object-template.ts';
import type { Quantity } from '../api/quantity.ts';
import { backupDefaults, storeDefaults } from '../api/spec-defaults.ts';
import type { Egress } from '../egress/egress.ts';
import type { Container, Job, PodSpec, ResourceRequirements, Volume } from '../kube-types.ts';
import { agentAccess, agentContainer, agentPod, etcdTlsFiles, volumesOf } from './agent-container.ts';
import { type JobPodSettings, jobMetadata, placedPod } from './job-pods.ts';
import { smallerResources } from './member-resources.ts';
import { annotations, backupJobName, labels } from './names.ts';
import { ownerReference } from './owner-reference.ts';
import { restrictedRights } from './restricted.ts';
import { type ScratchMember, scratchEtcdArgs, scratchLayout, scratchRestoreArgs, scratchUrls } from './scratch.ts';

/** The Jobs of one EtcdBackup: one pod each, never repeated by Kubernetes, with the user's own credentials. */

export interface TakeOrder {
  /** Our own. */
  readonly image: string;
  readonly attempt: number;
  readonly location: ObjectLocation;
  readonly endpoints: readonly string[];
  /** These are an author's words, and not those of an EtcdCluster. */
  readonly outside?: boolean | undefined;
  readonly clusterId?: string | undefined;
  /** With the client certificate for etcd. */
  readonly tlsSecretName?: string | undefined;
  readonly egress?: Egress | undefined;
  /** Of the members whose data it takes; absent: an author named others. */
  readonly resources?: ResourceRequirements | undefined;
  readonly pods?: JobPodSettings | undefined;
}

export interface VerifyOrder {
  readonly image: string;
  readonly attempt: number;
  readonly location: ObjectLocation;
  /** Of the version that took the snapshot. */
  readonly etcdImage: string;
  readonly snapshotBytes: number;
  /** Of the object, as it was noted when it was stored. */
  readonly sha256?: string | undefined;
  readonly egress?: Egress | undefined;
  readonly resources?: ResourceRequirements | undefined;
  readonly pods?: JobPodSettings | undefined;
}

/** Between the agent's own deadline and that of its pod: for starting, and for ending in order. Seconds. */
const spare = 300;
/** A finished Job is of use to a person for so long. Seconds. */
const ttl = 24 * 3600;

/** As the agent and the records of backups in stores have it. */
const agentCompression = { None: 'none', Gzip: 'gzip', Zstd: 'zstd' } as const;

/** Of an EtcdBackup that takes no snapshot: the Job that looks for what is there. */
export function takeJob(backup: EtcdBackup, order: TakeOrder): Job {
  const { to, existing } = backup.spec;
  if (existing) return lookJob(backup, order, existing.sha256);
  const access = agentAccess(order.location, to, 'write');
  const tls = etcdTlsFiles(order.tlsSecretName);
  const request = {
    operation: 'backup',
    id: backup.metadata.uid,
    ...scheduleOf(backup),
    ...(backup.metadata.creationTimestamp !== undefined && { askedAt: backup.metadata.creationTimestamp }),
    object: urlOf(order.location),
    ...access.request,
    source: {
      endpoints: order.endpoints,
      ...(order.outside && { outside: true }),
      ...(order.clusterId !== undefined && { clusterId: order.clusterId }),
      ...(order.tlsSecretName !== undefined && { tls: { directory: tls.directory } }),
    },
    compression: agentCompression[to.compression ?? storeDefaults.compression],
    deadlineSeconds: deadlineOf(backup),
  };
  const { image, egress, outside } = order;
  const resources = ofAgent(order);
  const pod = agentPod(to);
  const agent = { name: 'agent', image, request, access, volumeMounts: tls.volumeMounts, egress, outside, resources };
  return jobOf(backup, 'Take', order, {
    ...pod,
    containers: [agentContainer(agent)],
    volumes: [...pod.volumes, ...volumesOf(access, tls)],
  });
}

/** The comparison is of bytes as stored, so the Job gets no key. */
function lookJob(backup: EtcdBackup, order: TakeOrder, sha256: string): Job {
  const { image, location, egress } = order;
  const { encryption: _, ...to } = backup.spec.to;
  const access = agentAccess(location, to, 'read');
  const request = {
    operation: 'look',
    object: urlOf(location),
    ...access.request,
    sha256,
    deadlineSeconds: deadlineOf(backup),
  };
  const pod = agentPod(to);
  return jobOf(backup, 'Take', order, {
    ...pod,
    containers: [agentContainer({ name: 'agent', image, request, access, egress, resources: ofAgent(order) })],
    volumes: [...pod.volumes, ...access.volumes],
  });
}

const scratchMountPath = '/scratch';

/** Ours to compare, and the etcd that it compares: two containers of one pod, which share its loopback. */
export const drillContainers = { stage: 'stage', restore: 'restore', etcd: 'etcd', compare: 'compare' } as const;

/**
 * The stages of a drill as containers: etcd's images have no shell, and ours has no etcd. Ours fetches, `etcdutl`
 * restores, etcd serves beside the last one (a native sidecar), ours compares.
 */
export function verifyJob(backup: EtcdBackup, order: VerifyOrder): Job {
  const { to } = backup.spec;
  const { image, location, egress } = order;
  const resources = ofAgent(order);
  const [reading, proving] = [agentAccess(location, to, 'read'), agentAccess(location, to, 'prove')];
  const common = {
    object: urlOf(location),
    deadlineSeconds: deadlineOf(backup),
    directory: scratchMountPath,
    ...(order.sha256 !== undefined && { sha256: order.sha256 }),
  };
  const volumeMounts = [{ name: 'scratch', mountPath: scratchMountPath }];
  const { member, snapshot } = drillMember(scratchMountPath);
  const pod = agentPod(to);
  return jobOf(backup, 'Verify', order, {
    ...pod,
    initContainers: [
      agentContainer({
        name: drillContainers.stage,
        image,
        request: { operation: 'stage-drill', ...common, ...reading.request },
        access: reading,
        volumeMounts,
        egress,
        resources,
      }),
      etcdContainer(drillContainers.restore, order, [
        '/usr/local/bin/etcdutl',
        ...scratchRestoreArgs(snapshot, member),
      ]),
      {
        ...etcdContainer(drillContainers.etcd, order, ['/usr/local/bin/etcd', ...scratchEtcdArgs(member)]),
        restartPolicy: 'Always',
      },
    ],
    containers: [
      agentContainer({
        name: drillContainers.compare,
        image,
        request: {
          operation: 'compare',
          ...common,
          ...proving.request,
          endpoint: member.clientUrl,
          startSeconds: Math.min(deadlineOf(backup), 1800),
        },
        access: proving,
        volumeMounts,
        egress,
        resources,
      }),
    ],
    volumes: [...pod.volumes, ...volumesOf(reading, proving), scratchVolume(backup, order.snapshotBytes)],
  });
}

/** Where the restored member lies and listens, below a scratch directory. */
export function drillMember(directory: string): { readonly member: ScratchMember; readonly snapshot: string } {
  const { data, tls, snapshot } = scratchLayout(directory);
  const member = {
    name: 'drill',
    dataDirectory: data,
    ...scratchUrls,
    tls,
  };
  return { member, snapshot };
}

function etcdContainer(
  name: string,
  { etcdImage, resources }: VerifyOrder,
  [program = '', ...args]: readonly string[],
): Container {
  return {
    name,
    image: etcdImage,
    command: [program],
    args,
    // As its members have them: the index of a large database takes memory, and to be killed for less proves nothing.
    resources: resources ?? { requests: { cpu: '100m', memory: '256Mi' } },
    volumeMounts: [{ name: 'scratch', mountPath: scratchMountPath }],
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: { ...restrictedRights, readOnlyRootFilesystem: true },
  };
}

/** The snapshot, what is restored of it, and etcd's log of writes. */
function scratchVolume({ spec: { scratch = {} } }: EtcdBackup, snapshotBytes: number): Volume {
  const mebibytes = Math.ceil((3 * snapshotBytes) / 2 ** 20) + 512;
  const size: Quantity = scratch.size ?? `${mebibytes}Mi`;
  if (scratch.storageClassName === undefined) return { name: 'scratch', emptyDir: { sizeLimit: size } };
  const spec = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: scratch.storageClassName,
    resources: { requests: { storage: size } },
  };
  return { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } };
}

function ofAgent({ resources }: Pick<TakeOrder, 'resources'>): ResourceRequirements | undefined {
  return resources && smallerResources(resources);
}

/** By the reference that controls it: a label could be another schedule's. */
function scheduleOf({ metadata }: EtcdBackup): { readonly schedule?: string } {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  return owner?.kind === 'EtcdBackupSchedule' ? { schedule: owner.uid } : {};
}

function deadlineOf({ spec }: EtcdBackup): number {
  return Math.round(parseDuration(spec.deadline ?? backupDefaults.deadline) / 1000);
}

function jobOf(
  backup: EtcdBackup,
  stage: 'Take' | 'Verify',
  { attempt, location, pods }: Pick<TakeOrder, 'attempt' | 'location' | 'pods'>,
  spec: PodSpec,
): Job {
  const { name, namespace } = backup.metadata;
  const { clusterName } = backup.spec;
  const own = {
    [labels.managedBy]: 'etcd-ratchet',
    [labels.name]: 'etcd-backup',
    ...(clusterName !== undefined && { [labels.instance]: clusterName }),
    [labels.backup]: name,
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: backupJobName(name, stage, attempt),
      ...(namespace !== undefined && { namespace }),
      labels: own,
      annotations: { [annotations.object]: urlOf(location) },
      ownerReferences: [ownerReference('EtcdBackup', backup)],
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: deadlineOf(backup) + spare,
      ttlSecondsAfterFinished: ttl,
      podReplacementPolicy: 'Failed',
      template: { metadata: jobMetadata(own, pods?.metadata), spec: placedPod(spec, pods) },
    },
  };
}
