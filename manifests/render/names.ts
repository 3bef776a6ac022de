import { group } from '../api/group.ts';
import { urlOf } from './hosts.ts';

export { group } from '../api/group.ts';

/** Every name that is derived from a cluster's, in one place: builders write them, observing recognises them. */

/** Container ports of every etcd pod, and of the headless Service. */
export const ports = { client: 2379, peer: 2380, metrics: 2381 } as const;

export const labels = {
  managedBy: 'app.kubernetes.io/managed-by',
  name: 'app.kubernetes.io/name',
  instance: 'app.kubernetes.io/instance',
  cluster: `${group}/cluster`,
  peer: `${group}/peer`,
  fleet: `${group}/fleet`,
  backup: `${group}/backup`,
  schedule: `${group}/schedule`,
  /** Of a backup that a cluster asks for. */
  wish: `${group}/wish`,
  /** On a namespace whose pods read the metrics of members. */
  monitoring: `${group}/monitoring`,
  /** On a Secret whose owner lets fleets use it. */
  fleetSecret: `${group}/fleet-secret`,
  /** On a Secret, service account or PersistentVolumeClaim whose owner lets backups and restores use it. */
  forBackups: `${group}/for-backups`,
  /** On what is kept of a fleet while commit statuses of it are pending: that fleet's namespace. */
  pendingStatuses: `${group}/pending-statuses`,
} as const;

export const annotations = {
  // On volumes: what outlives every other object.
  token: `${group}/token`,
  initialCluster: `${group}/initial-cluster`,
  clusterId: `${group}/cluster-id`,
  memberId: `${group}/member-id`,
  version: `${group}/version`,
  nextVersion: `${group}/next-version`,
  rollsTo: `${group}/rolls-to`,
  minorSince: `${group}/minor-since`,
  tlsMode: `${group}/tls-mode`,
  allowedNames: `${group}/allowed-names`,
  mayHaveStarted: `${group}/may-have-started`,
  evidence: `${group}/evidence`,
  replacedAt: `${group}/replaced-at`,
  volumeState: `${group}/volume-state`,
  disk: `${group}/disk`,
  outvoted: `${group}/outvoted`,
  recovery: `${group}/recovery`,
  lastSeenOn: `${group}/last-seen-on`,
  restoredFrom: `${group}/restored-from`,
  revisionFloor: `${group}/revision-floor`,
  gaveUp: `${group}/gave-up`,
  trial: `${group}/trial`,
  authoritiesOf: `${group}/authorities-of`,
  hibernationBackup: `${group}/hibernation-backup`,
  goesBackTo: `${group}/goes-back-to`,
  stays: `${group}/stays`,
  // On the Secrets of CAs.
  trust: `${group}/trust`,
  servedSince: `${group}/served-since`,
  issuer: `${group}/issuer`,
  // On the Secrets of leaves that others sign.
  handedOverAt: `${group}/handed-over-at`,
  // On the Jobs of backups.
  object: `${group}/object`,
  // On the EtcdBackups of a schedule.
  dueAt: `${group}/due-at`,
  // On the EtcdBackup that an upgrade, a hibernation or a deletion waits for.
  beforeUpgrade: `${group}/before-upgrade`,
  beforeHibernation: `${group}/before-hibernation`,
  beforeDeletion: `${group}/before-deletion`,
  // On a cluster that an EtcdRestore made: that one's UID.
  restoredBy: `${group}/restored-by`,
  // On what we build.
  inputsHash: `${group}/inputs-hash`,
  // On a Service for clients outside: the keys of labels and annotations that its spec gave it.
  givenKeys: `${group}/given-keys`,
  // On the list of clients that members refuse: the numbers of certificates in use, which it leaves out.
  notRevoked: `${group}/not-revoked`,
  // On what a fleet applied.
  fleetName: `${group}/fleet-name`,
  source: `${group}/source`,
  /** On an EtcdCluster: the request whose plan was shown for this spec, and what that cost. */
  shownPlan: `${group}/shown-plan`,
  // In a document, and so on what it made: `disabled` or `confirm`.
  prune: `${group}/prune`,
  // On Nodes: what needs a reboot, and how far it is (reconcile/nodes/).
  rebootNeeded: `${group}/reboot-needed`,
  rebootGranted: `${group}/reboot-granted`,
  rebootCordoned: `${group}/reboot-cordoned`,
  rebootNow: `${group}/reboot-now`,
  rebootInProgress: `${group}/reboot-in-progress`,
  rebootReturned: `${group}/reboot-returned`,
  rebootDone: `${group}/reboot-done`,
  rebootLooked: `${group}/reboot-looked`,
  rebootPutOff: `${group}/reboot-put-off`,
  // From people.
  priorityClasses: `${group}/priority-classes`,
  paused: `${group}/paused`,
  reconcile: `${group}/reconcile`,
  defragment: `${group}/defragment`,
  rotateCertificates: `${group}/rotate-certificates`,
  recoverQuorum: `${group}/recover-quorum`,
  acceptDisks: `${group}/accept-disks`,
  rollBack: `${group}/roll-back`,
  adopt: `${group}/adopt`,
  replaceMember: `${group}/replace-member`,
  confirmPrune: `${group}/confirm-prune`,
  takeNames: `${group}/take-names`,
  resumeRollout: `${group}/resume-rollout`,
} as const;

/** Approvals of what can't be undone: to set one takes the verb `approve` (install/cluster/approvals.yaml). */
export const approvals = [
  annotations.recoverQuorum,
  annotations.acceptDisks,
  annotations.rollBack,
  annotations.adopt,
  annotations.replaceMember,
  annotations.confirmPrune,
  annotations.takeNames,
  annotations.resumeRollout,
] as const;

/** Beside an approval: the Kubernetes user who gave it. The API server takes no other name there. */
export function approverOf(approval: string): string {
  return `${approval}-approved-by`;
}

export type Scheme = 'http' | 'https';

export function peerName(cluster: string, ordinal: number): string {
  return `${cluster}-${ordinal}`;
}

/**
 * The ordinal in a peer's name; `undefined`: it is no peer of this cluster. Only the spelling of {@link peerName}
 * counts: `c-01` is foreign, and so is `c-1-0`, which is a pod of ours or a peer of a cluster named `c-1`.
 */
export function ordinalOf(cluster: string, name: string): number | undefined {
  if (!name.startsWith(`${cluster}-`)) return undefined;
  const digits = name.slice(cluster.length + 1);
  if (!/^(0|[1-9]\d{0,8})$/.test(digits)) return undefined;
  return Number(digits);
}

/** The pod that a peer's StatefulSet of one replica makes. */
export function podName(peer: string): string {
  return `${peer}-0`;
}

/** The one-shot Job that makes a cluster of one out of what this peer's volume holds. */
export function recoveryJobName(peer: string): string {
  return `${peer}-recovery`;
}

/** The Job that makes this peer's data out of a snapshot. */
export function restoreJobName(peer: string): string {
  return `${peer}-restore`;
}

/**
 * The Job that reads the log on this peer's disk: another one in each situation, by so many characters of its hash as a
 * Job's name has room for.
 */
export function logJobName(peer: string, situation: string): string {
  return `${peer}-log-${situation.slice(0, 6)}`;
}

/** A Job on a member's volume: what it does there. */
export type JobWork = 'recovery' | 'restore';

export function jobNameOf(peer: string, work: JobWork): string {
  return work === 'restore' ? restoreJobName(peer) : recoveryJobName(peer);
}

/** Whose Job that is, and what it does. */
export function memberOfJob(job: string): { readonly name: string; readonly work: JobWork } {
  const work = job.endsWith('-restore') ? 'restore' : 'recovery';
  return { name: job.replace(/-(recovery|restore)$/, ''), work };
}

/** Jobs of one EtcdBackup: an attempt to take it, and an attempt to restore what was taken. */
export function backupJobName(backup: string, stage: 'Take' | 'Verify', attempt: number): string {
  return `${backup}-${stage === 'Take' ? 'take' : 'verify'}-${attempt}`;
}

/** The EtcdBackup of one due time of a schedule: by the minute, in UTC. */
export function dueBackupName(schedule: string, at: Date): string {
  return `${schedule}-${at.toISOString().replace(/[-:T]/g, '').slice(0, 12)}`;
}

/** The Job that carries out a schedule's retention after one of its backups. */
export function pruneJobName(backup: string): string {
  return `${backup}-prune`;
}

export function headlessServiceName(cluster: string): string {
  return `${cluster}-peers`;
}

export function networkPolicyName(cluster: string): string {
  return `${cluster}-members`;
}

/** The ConfigMap with the client certificates that members refuse. */
export function revocationsName(cluster: string): string {
  return `${cluster}-revocations`;
}

export const revocationsKey = 'clients.crl';

/** For clients outside of the Kubernetes cluster. */
export function externalServiceName(cluster: string): string {
  return `${cluster}-external`;
}

export function clientServiceName(cluster: string): string {
  return cluster;
}

/** The pod's name in DNS, by the headless Service. No cluster domain: that differs between installations. */
export function podHost(namespace: string, cluster: string, peer: string): string {
  return `${podName(peer)}.${headlessServiceName(cluster)}.${namespace}.svc`;
}

export function peerUrl(namespace: string, cluster: string, peer: string, scheme: Scheme = 'http'): string {
  return urlOf(scheme, podHost(namespace, cluster, peer), ports.peer);
}

export function clientUrl(namespace: string, cluster: string, peer: string, scheme: Scheme = 'http'): string {
  return urlOf(scheme, podHost(namespace, cluster, peer), ports.client);
}

export function schemeOf(tlsMode: string): Scheme {
  return tlsMode === 'Disabled' ? 'http' : 'https';
}

/** On every object of a cluster. */
export function labelsOf(cluster: string): Record<string, string> {
  return {
    [labels.managedBy]: 'etcd-ratchet',
    [labels.name]: 'etcd',
    [labels.instance]: cluster,
    [labels.cluster]: cluster,
  };
}

/** On every object of one peer. */
export function peerLabels(cluster: string, peer: string): Record<string, string> {
  return { ...labelsOf(cluster), [labels.peer]: peer };
}

/** What Services and the disruption budget select: the cluster's etcd pods, and no Job's. */
export function podSelector(cluster: string): Record<string, string> {
  return { [labels.name]: 'etcd', [labels.cluster]: cluster };
}

/** Labels of a recovery's pod: listed together with the members' pods, but matched by none of their selectors. */
export function recoveryPodLabels(cluster: string): Record<string, string> {
  return { ...labelsOf(cluster), [labels.name]: 'etcd-recovery' };
}

/** The same of a restore's pod. */
export function restorePodLabels(cluster: string): Record<string, string> {
  return { ...labelsOf(cluster), [labels.name]: 'etcd-restore' };
}

/** The same of a pod that reads a member's log. */
export function logPodLabels(cluster: string): Record<string, string> {
  return { ...labelsOf(cluster), [labels.name]: 'etcd-log' };
}

/** The same as a string, for `status.selector` (the scale subresource). */
export function selectorOf(cluster: string): string {
  return labelSelector(podSelector(cluster));
}

/** For list calls: what has all of these labels. */
export function labelSelector(wanted: Readonly<Record<string, string>>): string {
  return Object.entries(wanted)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/** Of the Job of a recovery, beside etcd's. */
export const recoveryContainers = {
  setAside: 'set-aside',
  copy: 'copy',
  force: 'force',
  save: 'save',
  restore: 'restore',
  place: 'place',
} as const;

/** The container that runs etcd; a podTemplate that wants to change it names it so. */
export const etcdContainer = 'etcd';
export const dataVolume = 'data';
