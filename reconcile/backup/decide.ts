import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import {
  expandTemplate,
  type ObjectLocation,
  parseLocation,
  parseObjectTemplate,
  timestampOf,
  urlOf,
} from '../../manifests/api/object-template.ts';
import { backupDefaults, imageDefaults } from '../../manifests/api/spec-defaults.ts';
import type { TakeOrder, VerifyOrder } from '../../manifests/render/backup-jobs.ts';
import { applicationSecretName } from '../../manifests/render/certificate-names.ts';
import { etcdImage } from '../../manifests/render/image.ts';
import { clientUrl, schemeOf } from '../../manifests/render/names.ts';
import { conditionOf } from '../conditions.ts';
import { cureOfStart, startSeconds } from '../pod-start.ts';
import type { Proof } from './agent/compare.ts';
import { failures } from './agent/failure.ts';
import type { BackupRecord } from './agent/record.ts';
import type { BackupReason } from './reasons.ts';
import { type BackupSituation, isFinished, isOverdue, type JobView, maxAttempts, type Trouble } from './situation.ts';

/** What is known of a backup once it is stored, and once it is proven. */
export interface Facts {
  readonly record?: BackupRecord;
  readonly proof?: Proof & { readonly tookMs: number };
}

export type BackupDecision =
  /** `afterSeconds`: when the clock alone is worth another look. `stalled`: a person must do something. */
  | {
      readonly kind: 'wait';
      readonly reason: BackupReason;
      readonly message: string;
      readonly afterSeconds?: number;
      readonly stalled?: boolean;
    }
  | { readonly kind: 'take'; readonly message: string; readonly order: Omit<TakeOrder, 'image'> }
  | {
      readonly kind: 'verify';
      readonly message: string;
      readonly order: Omit<VerifyOrder, 'image'>;
      readonly facts: Facts;
    }
  /** The attempt failed, and another one is made at `retryAt`. `job`: it is deleted first. */
  | {
      readonly kind: 'retry';
      readonly reason: BackupReason;
      readonly message: string;
      readonly retryAt: Date;
      readonly job?: JobView;
    }
  | {
      readonly kind: 'fail';
      readonly reason: BackupReason;
      readonly message: string;
      readonly cure: string;
      readonly job?: JobView;
    }
  | { readonly kind: 'done'; readonly reason: 'Taken' | 'Verified'; readonly message: string; readonly facts: Facts }
  | { readonly kind: 'rest' };

/** Before the second attempt, and three times as long before each later one. */
const firstBackoffSeconds = 20;
const longestBackoffSeconds = 600;

/** What to do about one backup. Pure. */
export function decideBackup(situation: BackupSituation): BackupDecision {
  const { backup, attempt, job, at } = situation;
  if (isFinished(backup)) return { kind: 'rest' };
  const onMember = refuseMemberVolume(situation);
  if (onMember) return onMember;
  if (job === undefined) {
    if (attempt.begun) return failed(situation, 'JobGone', 'the Job was deleted before its result was read', 'retry');
    const left = secondsUntil(attempt.notBefore, at);
    const { reason = '', message = '' } = backup.status?.lastFailure ?? {};
    if (left > 0)
      return {
        kind: 'wait',
        reason: 'Retrying',
        message: retryMessage(attempt.number, reason, message),
        afterSeconds: left,
      };
    return attempt.stage === 'Take' ? take(situation) : verifyAgain(situation);
  }
  if (!job.ours && job.leaving)
    return {
      kind: 'wait',
      reason: 'OldJobLeaving',
      message: `Job ${job.name} of an earlier EtcdBackup of this name is being deleted`,
      stalled: isOverdue({ ...situation, job: undefined }),
    };
  if (!job.ours)
    return {
      kind: 'wait',
      reason: 'JobNameTaken',
      stalled: true,
      message: `Job ${job.name} belongs to something else: delete it, or create an EtcdBackup of another name`,
    };
  return byJob(situation, job);
}

/** No pod but the member's mounts it. One that waits for the volume is given up: it could be given a new member's. */
function refuseMemberVolume({ memberVolume, job }: BackupSituation): BackupDecision | undefined {
  if (memberVolume === undefined) return undefined;
  const isProven = job?.state.kind === 'said' && job.state.said.kind === 'proof';
  if (job?.ours && isProven) return undefined;
  return {
    kind: 'fail',
    reason: 'MemberVolume',
    message: `to.object: ${memberVolume}, and nothing else is put there`,
    cure: 'create another EtcdBackup that names another PersistentVolumeClaim',
    ...(job?.ours && { job }),
  };
}

function byJob(situation: BackupSituation, job: JobView): BackupDecision {
  const { backup, attempt } = situation;
  const { state } = job;
  if (state.kind === 'under-way') {
    return underWay(situation, job, state.trouble);
  }
  if (state.kind === 'broke') return failed(situation, state.reason, state.words, 'retry', job);
  const { said } = state;
  switch (said.kind) {
    case 'failure':
      return failed(situation, said.reason, said.message, courseOf(said.reason, backup));
    case 'record': {
      const { record } = said;
      if (attempt.stage !== 'Take' || record.id !== backup.metadata.uid || record.object !== job.object)
        return failed(situation, 'AgentBroke', 'the agent tells of another backup', 'retry');
      return (backup.spec.verify ?? backupDefaults.verify) === 'Trailer'
        ? {
            kind: 'done',
            reason: 'Taken',
            message: `${record.object} is stored, up to revision ${record.revision}`,
            facts: { record },
          }
        : verify(situation, record.object, record, 1, { record });
    }
    case 'proof':
      if (attempt.stage !== 'Verify')
        return failed(situation, 'AgentBroke', 'the agent tells of another operation', 'retry');
      return {
        kind: 'done',
        reason: 'Verified',
        message: `${backup.status?.object} was restored and compared, up to revision ${backup.status?.revision}`,
        facts: { proof: said.proof },
      };
  }
}

/** A pod that does not start is named at once, and asks for a person when it has waited for long. */
function underWay({ attempt, at }: BackupSituation, { name }: JobView, trouble: Trouble | undefined): BackupDecision {
  const what = attempt.stage === 'Take' ? `Job ${name} takes the snapshot` : `Job ${name} restores it and compares`;
  const reason = attempt.stage === 'Take' ? 'Taking' : 'Verifying';
  if (trouble === undefined) return { kind: 'wait', reason, message: what };
  const message = `${what}; its pod waits: ${trouble.words}`;
  // etcd that restarts on what was restored is told by its own end.
  if (trouble.code === 'CrashLoopBackOff') return { kind: 'wait', reason, message };
  const waited = (at.getTime() - Date.parse(trouble.since)) / 1000;
  if (!(waited >= startSeconds)) return { kind: 'wait', reason, message, afterSeconds: startSeconds };
  return {
    kind: 'wait',
    reason: 'PodNotStarting',
    message: `${message}. To go on: ${cureOfStart(trouble.code)}`,
    stalled: true,
  };
}

/** Two backups of one second have one name. A later attempt has another, where the template says so. */
function courseOf(reason: keyof typeof failures, { spec }: EtcdBackup): (typeof failures)[keyof typeof failures] {
  const template = parseObjectTemplate(spec.to.object);
  const differs = !('problem' in template) && template.variables.has('timestamp');
  return reason === 'Exists' && differs ? 'retry' : failures[reason];
}

function take(situation: BackupSituation): BackupDecision {
  const { backup, cluster, attempt } = situation;
  const { clusterName, source } = backup.spec;
  const from = source
    ? { endpoints: source.endpoints, tlsSecretName: source.tlsSecretName }
    : sourceOf(cluster, clusterName ?? '');
  if ('reason' in from) return { kind: 'wait', ...from, stalled: isOverdue(situation) };
  const location = locationOf(situation);
  if ('problem' in location) return failed(situation, 'InvalidRequest', location.problem, 'request');
  const message = `attempt ${attempt.number} stores the snapshot as ${urlOf(location)}`;
  return { kind: 'take', message, order: { attempt: attempt.number, location, ...from } };
}

type Source = Pick<TakeOrder, 'endpoints' | 'clusterId' | 'tlsSecretName'>;

/** The voters of a cluster, and the certificate that applications use. */
function sourceOf(
  cluster: EtcdCluster | undefined,
  name: string,
): Source | { readonly reason: 'ClusterAbsent' | 'ClusterNotAvailable'; readonly message: string } {
  if (cluster === undefined)
    return {
      reason: 'ClusterAbsent',
      message: `there is no EtcdCluster ${name} here: create it, or delete this backup`,
    };
  const { metadata, spec, status } = cluster;
  const available = conditionOf(status, 'Available');
  const voters = (status?.members ?? []).filter(({ role }) => role === 'voter');
  if (available?.status !== 'True' || voters.length === 0)
    return {
      reason: 'ClusterNotAvailable',
      message: `the backup waits until EtcdCluster ${name} is Available, or this backup is deleted: ${available?.message ?? 'it was not looked at yet'}`,
    };
  const mode = spec.tls?.mode ?? 'Managed';
  const tlsSecretName =
    mode === 'Disabled' ? undefined : mode === 'Provided' ? spec.tls?.clientSecretName : applicationSecretName(name);
  const { namespace = '' } = metadata;
  return {
    endpoints: voters.map((voter) => clientUrl(namespace, name, voter.name, schemeOf(mode))),
    clusterId: status?.clusterID,
    tlsSecretName,
  };
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

function verifyAgain(situation: BackupSituation): BackupDecision {
  const { object = '', etcdVersion = '', snapshotBytes = 0, sha256 } = situation.backup.status ?? {};
  const facts = { etcdVersion, sha256, snapshot: { bytes: snapshotBytes } };
  return verify(situation, object, facts, situation.attempt.number, {});
}

function verify(
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
  const { image = imageDefaults, version } = situation.cluster?.spec ?? {};
  // A digest names the bytes of one version.
  const { digest, ...unpinned } = { digest: undefined, ...image };
  const sameVersion = version?.replace(/^v/, '') === taken.etcdVersion;
  const pinned = digest !== undefined && sameVersion ? { ...unpinned, digest } : unpinned;
  return {
    kind: 'verify',
    message: `${object} is stored; attempt ${attempt} restores it with etcd ${taken.etcdVersion}`,
    order: {
      attempt,
      location,
      etcdImage: etcdImage({ image: { ...imageDefaults, ...pinned }, version: taken.etcdVersion }),
      pullSecrets: 'pullSecrets' in image ? (image.pullSecrets ?? []) : [],
      snapshotBytes: taken.snapshot.bytes,
      sha256: taken.sha256,
    },
    facts,
  };
}

/** @param kind whether it may pass by itself; a person's or a defect never does */
function failed(
  { attempt, at, backup }: BackupSituation,
  reason: BackupReason,
  message: string,
  kind: (typeof failures)[keyof typeof failures],
  running?: JobView,
): BackupDecision {
  // It would go on without being waited for.
  const job = running?.state.kind === 'broke' && running.state.reason === 'EtcdNotStarted' ? { job: running } : {};
  const what =
    attempt.stage === 'Take' ? message : `${backup.status?.object ?? 'the object'} is not verified: ${message}`;
  if (kind === 'retry' && attempt.number < maxAttempts) {
    const seconds = Math.min(firstBackoffSeconds * 3 ** (attempt.number - 1), longestBackoffSeconds);
    const retryAt = new Date(at.getTime() + seconds * 1000);
    return { kind: 'retry', reason, message: what, retryAt, ...job };
  }
  const tried = kind === 'retry' ? `${maxAttempts} attempts failed, the last one: ` : '';
  const cure =
    attempt.stage === 'Take' || kind !== 'defect'
      ? 'correct that, then create another EtcdBackup'
      : 'back up again, and keep older backups until one is verified';
  return { kind: 'fail', reason, message: `${tried}${what}`, cure, ...job };
}

/** The same when the attempt fails as while the next one is awaited: nothing changes in between. */
export function retryMessage(next: number, reason: string, message: string): string {
  return `attempt ${next - 1} of ${maxAttempts} failed (${reason}), the next one follows: ${message}`;
}

function secondsUntil(time: Date | undefined, at: Date): number {
  return time === undefined ? 0 : Math.max(0, Math.ceil((time.getTime() - at.getTime()) / 1000));
}
