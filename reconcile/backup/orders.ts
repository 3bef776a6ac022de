import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import {
  expandTemplate,
  type ObjectLocation,
  parseLocation,
  parseObjectTemplate,
  timestampOf,
  urlOf,
} from '../../manifests/api/object-template.ts';
import { imageDefaults } from '../../manifests/api/spec-defaults.ts';
import { listRefusal } from '../../manifests/egress/allow-lists.ts';
import { hostRefusal, placeRefusal } from '../../manifests/egress/host-refusal.ts';
import type { TakeOrder } from '../../manifests/render/backup-jobs.ts';
import { applicationSecretName, backupSecretName } from '../../manifests/render/certificate-names.ts';
import { etcdImage } from '../../manifests/render/image.ts';
import { type JobPodSettings, jobPodsOf } from '../../manifests/render/job-pods.ts';
import { memberResources } from '../../manifests/render/member-resources.ts';
import { clientUrl, schemeOf } from '../../manifests/render/names.ts';
import { hostNamed } from '../../manifests/stores/stores.ts';
import { failures } from '../jobs/failure.ts';
import { conditionOf } from '../objects/conditions.ts';
import { canBeRead } from '../reasons/reasons.ts';
import { type BackupDecision, type Facts, failed } from './decision.ts';
import { type BackupSituation, isOverdue } from './situation.ts';

/** The first stage: a snapshot is taken, or what is stored is read. */
export function take(situation: BackupSituation): BackupDecision {
  const { backup, attempt } = situation;
  const from = sourceOf(situation);
  if ('reason' in from) return { kind: 'wait', ...from, stalled: isOverdue(situation) };
  const location = locationOf(situation);
  if ('problem' in location) return failed(situation, 'InvalidRequest', location.problem, 'request');
  const refused = hostRefused(situation, location, from.outside ? from.endpoints : []);
  if (refused) return refused;
  const does = backup.spec.existing ? 'reads' : 'stores the snapshot as';
  const message = `attempt ${attempt.number} ${does} ${urlOf(location)}`;
  return { kind: 'take', message, order: { attempt: attempt.number, location, ...from, pods: podsOf(situation) } };
}

/** Before a Job is made, which would have the rights of its namespace there. */
function hostRefused(
  situation: BackupSituation,
  location: ObjectLocation,
  sources: readonly string[] = [],
): BackupDecision | undefined {
  const { backup, egress } = situation;
  const { namespace } = backup.metadata;
  const ofStore = placeRefusal({ location, host: hostNamed(location, backup.spec.to), namespace }, egress);
  const problem = ofStore ?? sources.flatMap((endpoint) => hostRefusal(endpoint, egress) ?? [])[0];
  return problem === undefined ? undefined : failed(situation, 'HostRefused', problem, failures.HostRefused);
}

type Source = Pick<TakeOrder, 'endpoints' | 'outside' | 'clusterId' | 'tlsSecretName' | 'resources'>;

/** Where its pods run, and what lets them in. */
function podsOf({ backup, cluster }: BackupSituation): JobPodSettings {
  return jobPodsOf(backup.spec.podTemplate, cluster?.spec);
}

type NoSource = { readonly reason: 'ClusterAbsent' | 'ClusterNotAvailable'; readonly message: string };

/** A look at a stored object asks no etcd. */
function sourceOf({ backup, cluster, hasCertificate }: BackupSituation): Source | NoSource {
  const { clusterName = '', source, existing } = backup.spec;
  if (existing) return { endpoints: [], ...(cluster && { resources: memberResources(cluster.spec) }) };
  if (source) return { endpoints: source.endpoints, outside: true, tlsSecretName: source.tlsSecretName };
  return votersOf(cluster, clusterName, hasCertificate);
}

/** The voters of a cluster, and the certificate that is shown to them. */
function votersOf(cluster: EtcdCluster | undefined, name: string, hasCertificate = false): Source | NoSource {
  if (cluster === undefined)
    return {
      reason: 'ClusterAbsent',
      message: `there is no EtcdCluster ${name} here: create it, or delete this backup`,
    };
  const { metadata, spec, status } = cluster;
  const available = conditionOf(status, 'Available');
  const voters = (status?.members ?? []).filter(({ role }) => role === 'Voter');
  if (!canBeRead(available) || voters.length === 0)
    return {
      reason: 'ClusterNotAvailable',
      message: `the backup waits until a quorum of EtcdCluster ${name} answers, or this backup is deleted: ${available?.message ?? 'it was not looked at yet'}`,
    };
  const mode = spec.tls?.mode ?? 'Managed';
  const { namespace = '' } = metadata;
  return {
    endpoints: voters.map((voter) => clientUrl(namespace, name, voter.name, schemeOf(mode))),
    clusterId: status?.clusterID,
    tlsSecretName: certificateOf(cluster, hasCertificate),
    resources: memberResources(spec),
  };
}

/** Its own for backups; without it that of applications, which may do. */
function certificateOf(
  { metadata: { name }, spec: { tls } }: EtcdCluster,
  hasCertificate: boolean,
): string | undefined {
  if (tls?.mode === 'Disabled') return undefined;
  if (tls?.mode === 'Provided') return tls.provided?.clientSecretName;
  return hasCertificate ? backupSecretName(name) : applicationSecretName(name);
}

/** Each attempt has a name of its own, where the template has {{timestamp}}: an earlier one may have left an object. */
function locationOf({ backup, at }: BackupSituation): ObjectLocation | { readonly problem: string } {
  const { namespace = '', name, uid = '' } = backup.metadata;
  const { clusterName, to } = backup.spec;
  const template = parseObjectTemplate(to.object);
  if ('problem' in template) return template;
  try {
    const cluster = clusterName === undefined ? {} : { cluster: clusterName };
    return expandTemplate(template, { namespace, name, uid, timestamp: timestampOf(at), ...cluster });
  } catch (error) {
    if (error instanceof RangeError) return { problem: error.message };
    throw error;
  }
}

export function verifyAgain(situation: BackupSituation): BackupDecision {
  const { object = '', etcdVersion = '', snapshotBytes = 0, sha256 } = situation.backup.status ?? {};
  const facts = { etcdVersion, sha256, snapshot: { bytes: snapshotBytes } };
  return verify(situation, object, facts, situation.attempt.number, {});
}

/** The second stage: what is stored is restored, started and compared. */
export function verify(
  situation: BackupSituation,
  object: string,
  taken: {
    readonly etcdVersion: string;
    readonly sha256: string | undefined;
    readonly snapshot: { readonly bytes: number };
  },
  attempt: number,
  facts: Facts,
): BackupDecision {
  const location = parseLocation(object);
  if ('problem' in location) return failed(situation, 'InvalidRequest', location.problem, 'request');
  const refused = hostRefused(situation, location);
  if (refused) return refused;
  const { egress, backup } = situation;
  const { image = imageDefaults, version } = situation.cluster?.spec ?? {};
  // A digest names the bytes of one version.
  const { digest, ...unpinned } = { digest: undefined, ...image };
  const sameVersion = version?.replace(/^v/, '') === taken.etcdVersion;
  const pinned = digest !== undefined && sameVersion ? { ...unpinned, digest } : unpinned;
  const ran = etcdImage({ image: { ...imageDefaults, ...pinned }, version: taken.etcdVersion });
  const problem = listRefusal(egress?.lists, 'images', ran, backup.metadata.namespace ?? '');
  if (problem !== undefined) return failed(situation, 'ImageRefused', problem, failures.ImageRefused);
  return {
    kind: 'verify',
    message: `${object} is stored; attempt ${attempt} restores it with etcd ${taken.etcdVersion}`,
    order: {
      attempt,
      location,
      etcdImage: ran,
      snapshotBytes: taken.snapshot.bytes,
      sha256: taken.sha256,
      ...(situation.cluster && { resources: memberResources(situation.cluster.spec) }),
      pods: podsOf(situation),
    },
    facts,
  };
}
