import { byForce, endsByForce } from '../render/pod-template-limits.ts';
import type { EtcdBackup } from './etcd-backup.ts';
import type { EtcdBackupSchedule } from './etcd-backup-schedule.ts';
import type { EtcdCluster } from './etcd-cluster.ts';
import type { EtcdFleet } from './etcd-fleet.ts';
import type { EtcdNodePolicy } from './etcd-node-policy.ts';
import type { EtcdRestore } from './etcd-restore.ts';
import { type DocumentProblem, dotted } from './problem.ts';
import { parseQuantity } from './quantity.ts';
import { bearableQuota, MiB, mostQuota, smallestVolume } from './quota-room.ts';
import { compareVersions, parseVersion } from './version.ts';
import { defectsOf, firstWithout } from './version-defects.ts';

/** Things that are allowed, and probably not meant. `object` is one that `validateDocument` passed. */
export function warningsFor(object: EtcdCluster | EtcdFleet | OtherDocument): DocumentProblem[] {
  const warnings = ownWarnings(object);
  if (object.status !== undefined) {
    warnings.push({ path: ['status'], message: 'status is ignored: it is written by etcd-ratchet' });
  }
  return warnings;
}

/** Of these kinds nothing is allowed that is probably not meant. */
type OtherDocument = EtcdBackup | EtcdBackupSchedule | EtcdRestore | EtcdNodePolicy;

function ownWarnings(object: EtcdCluster | EtcdFleet | OtherDocument): DocumentProblem[] {
  switch (object.kind) {
    case 'EtcdCluster':
      return clusterWarnings(object.spec);
    case 'EtcdFleet':
      return fleetWarnings(object.spec);
    case 'EtcdBackup':
    case 'EtcdBackupSchedule':
    case 'EtcdNodePolicy':
      return [];
    case 'EtcdRestore':
      return clusterWarnings(object.spec.cluster.spec).map(({ path, message }) => ({
        path: ['spec', 'cluster', ...path],
        message: `spec.cluster.${message}`,
      }));
  }
}

function clusterWarnings({
  replicas,
  version,
  etcd,
  tls,
  podTemplate,
  storage,
  auth,
}: EtcdCluster['spec']): DocumentProblem[] {
  const warnings: DocumentProblem[] = [];
  if (replicas > 0 && replicas % 2 === 0) {
    const message = `spec.replicas is even: ${replicas} members survive no more failures than ${replicas - 1}`;
    warnings.push({ path: ['spec', 'replicas'], message });
  }
  if (replicas > 7) {
    const message = 'spec.replicas is more than 7: every write waits for a majority, and etcd advises against it';
    warnings.push({ path: ['spec', 'replicas'], message });
  }
  // Learner promotion is lost on restart before 3.5.24, and removed members may come back before 3.5.26.
  const given = parseVersion(version);
  if (given.minor === 5 && compareVersions(given, { major: 3, minor: 5, patch: 26 }) < 0) {
    const message =
      'spec.version is older than 3.5.26, which fixed removed members that come back: move to it before 3.6';
    warnings.push({ path: ['spec', 'version'], message });
  }
  const defects = defectsOf(version);
  if (defects.length > 0) {
    const said = defects.map(({ id, what }) => `${what} (${id})`).join('; ');
    const message = `spec.version ${version} is older than ${firstWithout(defects, version)}: it ${said}`;
    warnings.push({ path: ['spec', 'version'], message });
  }
  const volume = parseQuantity(storage.size);
  if (volume < parseQuantity(smallestVolume)) {
    const message = `spec.storage.size is less than ${smallestVolume}, which the API server refuses in a new cluster: etcd's log alone fills it`;
    warnings.push({ path: ['spec', 'storage', 'size'], message });
  }
  const quota = etcd?.quotaBackendBytes === undefined ? 0 : parseQuantity(etcd.quotaBackendBytes);
  if (quota > bearableQuota(volume)) {
    const most = (bytes: number) => `${Math.floor(bytes / MiB)}Mi`;
    const message = `spec.etcd.quotaBackendBytes is more than ${most(bearableQuota(volume))}, what a volume of ${storage.size} bears with a second copy of the database, which a defragmentation writes; more than ${most(mostQuota(volume))} is refused where it is new`;
    warnings.push({ path: ['spec', 'etcd', 'quotaBackendBytes'], message });
  }
  if (etcd?.quotaBackendBytes !== undefined && parseQuantity(etcd.quotaBackendBytes) > 8 * 2 ** 30) {
    const message = 'spec.etcd.quotaBackendBytes is more than 8Gi, the most that etcd advises';
    warnings.push({ path: ['spec', 'etcd', 'quotaBackendBytes'], message });
  }
  const { peerIssuerRef, allowedNames } = tls?.certManager ?? {};
  if (tls?.certManager && peerIssuerRef === undefined && allowedNames !== 'Own') {
    const message =
      'spec.tls.certManager.peerIssuerRef is missing: with one issuer for both, a client certificate is enough to join as a member';
    warnings.push({ path: ['spec', 'tls', 'certManager', 'issuerRef'], message });
  }
  warnings.push(...authWarnings(auth));
  if (endsByForce(podTemplate)) {
    const message = `spec.podTemplate.${byForce}; it is refused where members do not have it yet`;
    warnings.push({ path: ['spec', 'podTemplate', 'spec', 'terminationGracePeriodSeconds'], message });
  }
  return warnings;
}

function authWarnings(auth: EtcdCluster['spec']['auth']): DocumentProblem[] {
  return (auth?.roles ?? []).flatMap(({ rights = [] }, role) =>
    rights.flatMap(({ prefix = '' }, right) => {
      // After a letter or a digit the name goes on: a separator is what ends it.
      if (!/[\p{L}\p{N}]$/u.test(prefix)) return [];
      const path = ['spec', 'auth', 'roles', role, 'rights', right, 'prefix'];
      const message = `${dotted(path)} does not end in a separator: ${prefix} covers ${prefix}${prefix.at(-1)} as well`;
      return [{ path, message }];
    }),
  );
}

function fleetWarnings({ git }: EtcdFleet['spec']): DocumentProblem[] {
  const warnings: DocumentProblem[] = [];
  if (git.url.startsWith('http://') && git.secretName !== undefined) {
    const message = 'spec.git.url is http: the credentials of spec.git.secretName travel in the clear';
    warnings.push({ path: ['spec', 'git', 'url'], message });
  }
  return warnings;
}
