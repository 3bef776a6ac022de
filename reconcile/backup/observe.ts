import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { claimNamedIn, parseObjectTemplate } from '../../manifests/api/object-template.ts';
import type { Egress } from '../../manifests/egress/egress.ts';
import type { Job, Secret } from '../../manifests/kube-types.ts';
import { backupSecretName } from '../../manifests/render/certificate-names.ts';
import { annotations, backupJobName } from '../../manifests/render/names.ts';
import { namedByBackup } from '../../manifests/render/offers.ts';
import { isControlledBy } from '../../manifests/render/owner-reference.ts';
import { reportedOf } from '../cluster/observe/reported.ts';
import { type Kube, resources } from '../interfaces/kube.ts';
import { podsOfJob } from '../jobs/pods.ts';
import { problemOfClaim } from '../objects/member-volume.ts';
import { problemOfOffers } from '../objects/offers.ts';
import { stateOfJob } from './job-state.ts';
import { attemptOf, type BackupSituation, type JobView } from './situation.ts';

export interface ObserveContext {
  readonly kube: Kube;
  /** Those that were listed in this pass. */
  readonly clusters: readonly EtcdCluster[];
  readonly egress?: Egress | undefined;
  readonly signal: AbortSignal;
}

/**
 * GETs its Job, what it names, and the certificate that it shows; LISTs the Job's pod; and if that does not start, its
 * events. @throws {KubeError}
 */
export async function observeBackup(
  backup: EtcdBackup,
  { kube, clusters, egress, signal }: ObserveContext,
): Promise<BackupSituation> {
  const { namespace, name } = backup.metadata;
  const attempt = attemptOf(backup);
  const cluster = clusters.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === backup.spec.clusterName,
  );
  const [found, memberVolume] = await Promise.all([
    kube.get<Job>(resources.jobs, namespace, backupJobName(name, attempt.stage, attempt.number), { signal }),
    readClaim(backup, { kube, clusters, signal }),
  ]);
  const isToBegin = !found && !attempt.begun;
  const [notOffered, hasCertificate] = await Promise.all([
    isToBegin ? readOffers(backup, kube, signal) : undefined,
    isToBegin && cluster && hasOwnLeaves(cluster) ? readCertificate(cluster, kube, signal) : undefined,
  ]);
  const at = kube.now() ?? new Date();
  const job = found && (await jobView(kube, found, backup, { at, signal }));
  return {
    backup,
    cluster,
    attempt,
    job,
    at,
    ...(memberVolume !== undefined && { memberVolume }),
    ...(notOffered !== undefined && { notOffered }),
    ...(hasCertificate !== undefined && { hasCertificate }),
    ...(egress && { egress }),
  };
}

/** Of a backup on a volume: whether that is a member's. */
async function readClaim(
  { metadata: { namespace }, spec: { to } }: EtcdBackup,
  { kube, clusters, signal }: ObserveContext,
): Promise<string | undefined> {
  const claimName = claimNamedIn(parseObjectTemplate(to.object));
  if (claimName === undefined) return undefined;
  const names = clusters
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map(({ metadata }) => metadata.name);
  return problemOfClaim(kube, { namespace, claimName, clusters: names }, signal);
}

/** Before a Job is made with them, each time. */
function readOffers(
  { metadata: { namespace }, spec }: EtcdBackup,
  kube: Kube,
  signal: AbortSignal,
): Promise<string | undefined> {
  return problemOfOffers(kube, { namespace, named: namedByBackup(spec) }, signal);
}

function hasOwnLeaves({ spec: { tls } }: EtcdCluster): boolean {
  return tls?.mode !== 'Disabled' && tls?.mode !== 'Provided';
}

/**
 * Whether the cluster's own certificate for backups is there. It may be late, or lost: that of a cluster that is
 * suspended or goes is not issued, and an issuer may refuse it alone.
 */
async function readCertificate({ metadata }: EtcdCluster, kube: Kube, signal: AbortSignal): Promise<boolean> {
  const { namespace, name, uid = '' } = metadata;
  const secret = await kube.get<Secret>(resources.secrets, namespace, backupSecretName(name), {
    metadataOnly: true,
    signal,
  });
  return secret !== undefined && isControlledBy(secret, uid);
}

interface When {
  readonly at: Date;
  readonly signal: AbortSignal;
}

async function jobView(kube: Kube, job: Job, backup: EtcdBackup, { at, signal }: When): Promise<JobView> {
  const { name, uid = '', creationTimestamp = '' } = job.metadata;
  const ours = isControlledBy(job, backup.metadata.uid ?? '');
  const pods = ours ? await podsOfJob(kube, job, signal) : [];
  const pod = pods.find((one) => isControlledBy(one, uid));
  const state = stateOfJob(job, pod);
  const isSilent = ours && state.kind === 'under-way' && state.trouble === undefined;
  const reported = isSilent ? await reportedOf(kube, pod ?? job, pod ? 'pod' : 'job', { at, signal }) : undefined;
  const since = (pod ?? job).metadata.creationTimestamp ?? '';
  return {
    name,
    uid,
    ours,
    leaving: !ours && isOfNamesake(job, backup),
    object: job.metadata.annotations?.[annotations.object]?.slice(0, 1100) ?? '',
    startedAt: creationTimestamp,
    ...(pod?.metadata.creationTimestamp !== undefined && { podCreatedAt: pod.metadata.creationTimestamp }),
    state: reported
      ? {
          kind: 'under-way',
          trouble: { code: reported.reason, words: `${reported.reason}: ${reported.message}`, since },
        }
      : state,
  };
}

function isOfNamesake({ metadata }: Job, backup: EtcdBackup): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  return owner?.kind === 'EtcdBackup' && owner.name === backup.metadata.name;
}
