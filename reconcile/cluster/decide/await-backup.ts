import { parseDuration } from '../../../manifests/api/duration.ts';
import { backupDefaults } from '../../../manifests/api/spec-defaults.ts';
import { type BackupWish, backupPolicy, type Occasion, occasions } from '../../../manifests/render/backup-before.ts';
import { kubectl, resourceName } from '../../../manifests/render/kubectl.ts';
import { toldIn } from '../../reasons/cure.ts';
import { timestamp } from '../../time/timestamp.ts';
import { act, type Decision, type Refused, refuse, wait } from '../know/decision.ts';
import type { AwaitedBackupView } from '../know/observation.ts';
import { entryFor } from '../know/set-aside.ts';
import type { Situation } from '../know/situation.ts';

/** @param what in words: `the upgrade to 3.7.3` */
interface Awaiting {
  readonly before: Occasion;
  readonly what: string;
  /** Whether it would begin now, so that one that is too old is taken again. Absent: whenever there is a quorum. */
  readonly begins?: () => boolean;
  /** The EtcdBackup that stored what is only looked for: no member is asked. */
  readonly looksFor?: string;
  /** Members that are asked for nothing any more serve yet: no quorum of the others is needed. */
  readonly othersServe?: boolean;
}

type Known = Extract<AwaitedBackupView, { readonly kind: 'known' }>;

/**
 * Holds what comes next until the backup that the spec wants before it is Ready; `undefined`: nothing holds it.
 *
 * With policy BestEffort a backup that failed, is refused, asks for a person or takes too long holds nothing.
 */
export function awaitBackup(situation: Situation, awaiting: Awaiting): Decision | undefined {
  const { awaitedBackup: view, cluster } = situation;
  if (view?.before !== awaiting.before || view.kind === 'namespace-ends') return undefined;
  const isRequired = backupPolicy(cluster, view.before) === 'Required';
  switch (view.kind) {
    case 'unknown': {
      if (!isRequired) return undefined;
      const cure = 'apply the roles and resource definitions of this release of etcd-ratchet (manifests/install)';
      const message = `${awaiting.what} waits for a backup, and backups cannot be read: ${view.cause}`;
      return refuse('BackupsNotPermitted', message, `${cure}; ${withoutIt(situation, awaiting)}`);
    }
    case 'missing':
      return ask(view, isRequired, situation, awaiting);
    case 'known':
      if (view.tooOld && isToBeTakenAgain(situation, awaiting))
        return ask({ ...view.tooOld, insteadOf: view.name }, isRequired, situation, awaiting);
      return isRequired ? required(view, situation, awaiting) : bestEffort(view, situation, awaiting);
  }
}

/** Not while what it is taken before waits for something else: it would be taken again and again. */
function isToBeTakenAgain({ membership }: Situation, awaiting: Awaiting): boolean {
  const { begins = () => true, looksFor, othersServe } = awaiting;
  return (looksFor !== undefined || othersServe || membership.kind === 'known') && begins();
}

interface Asked {
  readonly name: string;
  readonly wish: BackupWish;
  /** That one is too old. */
  readonly insteadOf?: string;
}

function ask(
  { name, wish, insteadOf }: Asked,
  isRequired: boolean,
  situation: Situation,
  awaiting: Awaiting,
): Decision | undefined {
  const action = { kind: 'back-up', name, wish } as const;
  const doing =
    awaiting.looksFor === undefined ? 'backing up' : `looking for what EtcdBackup ${awaiting.looksFor} stored,`;
  const again = insteadOf === undefined ? doing : `${insteadOf} ended too long ago; ${doing} again`;
  const entry = entryFor(action, situation.refused);
  if (entry && !isRequired) return undefined;
  // What may pass is tried again: nothing else could be done meanwhile.
  if (!entry || entry.repeated) return act(action, 'BackingUp', `${again} before ${awaiting.what}: EtcdBackup ${name}`);
  const { message, cure } = toldIn(entry.message);
  return failed(
    `EtcdBackup ${name} is refused: ${message}`,
    `${cure}: it is tried again by itself`,
    situation,
    awaiting,
  );
}

function required(view: Known, situation: Situation, awaiting: Awaiting): Decision | undefined {
  const { name, state, message, askedAt } = view;
  const { membership, at, cluster } = situation;
  switch (state) {
    case 'good':
      return undefined;
    case 'leaving':
      return awaited(view, awaiting);
    case 'under-way':
      if (isLate(view, situation)) return overdue(view, situation, awaiting);
      if (awaiting.looksFor !== undefined || awaiting.othersServe || isYoung(askedAt, at))
        return awaited(view, awaiting);
      return membership.kind === 'known'
        ? awaited(view, awaiting)
        : withoutQuorum(membership.cause, situation, awaiting);
    case 'stalled':
      return failed(
        `EtcdBackup ${name} asks for a person: ${message}`,
        'correct that: it then goes on',
        situation,
        awaiting,
      );
    case 'failed':
    case 'foreign': {
      const what = state === 'failed' ? 'has failed' : 'was made by another';
      const again = kubectl(cluster.metadata, `delete ${resourceName('etcdbackups')} ${name}`);
      const cure = `correct that, then ${again}: it is made anew`;
      return failed(`EtcdBackup ${name} ${what}: ${message}`, cure, situation, awaiting);
    }
  }
}

function bestEffort(view: Known, situation: Situation, awaiting: Awaiting): Decision | undefined {
  const isAwaited = view.state === 'under-way' || view.state === 'leaving';
  return isAwaited && !isLate(view, situation) ? awaited(view, awaiting) : undefined;
}

function isLate({ askedAt }: Known, { cluster, at }: Situation): boolean {
  const bound = deadlines * parseDuration(cluster.spec.backup?.deadline ?? backupDefaults.deadline);
  return at.getTime() - askedAt.getTime() >= bound;
}

/** It may still go on. */
function overdue({ name, message, askedAt }: Known, situation: Situation, awaiting: Awaiting): Refused {
  const waits = `EtcdBackup ${name}, asked for at ${timestamp(askedAt)}, is not there after two deadlines: ${message}`;
  return failed(waits, 'look at what it says; it goes on when that backup is Ready', situation, awaiting);
}

/** One to take it, and one to restore and compare it. */
const deadlines = 2;
/** Members that restart, or elect a leader, answer by then. */
const quorumSeconds = 60;

function isYoung(askedAt: Date, at: Date): boolean {
  return at.getTime() - askedAt.getTime() < quorumSeconds * 1000;
}

/** Its Job tells its end to the steps of backups. */
function awaited({ name, message, askedAt }: Known, { what }: Awaiting): Decision {
  const since = timestamp(askedAt);
  return wait('BackingUp', `${what} waits until EtcdBackup ${name}, asked for at ${since}, is Ready: ${message}`, {
    on: 'time',
    afterSeconds: 3,
  });
}

function failed(message: string, cure: string, situation: Situation, awaiting: Awaiting): Refused {
  const waits = `${awaiting.what} waits for a backup, and ${message}`;
  const last = awaiting.looksFor === undefined ? '' : `; ${lastCopy}`;
  return refuse('BackupFailed', waits, `${cure}; ${withoutIt(situation, awaiting)}${last}`);
}

const lastCopy = 'the volumes go then, unless spec.volumeRetention.whenDeleted is Retain';

/** @param cause why there is no member that a snapshot could be taken of */
function withoutQuorum(cause: string, situation: Situation, awaiting: Awaiting): Refused {
  return refuse(
    'BackupNotPossible',
    `${awaiting.what} waits for a backup, and no quorum serves that it could be taken of: ${cause}; the volumes are kept`,
    `bring the members back that are missing: it then goes on; ${withoutIt(situation, awaiting)}`,
  );
}

/** As {@link withoutQuorum}, of a cluster that is being deleted: nothing starts a member of it again. */
export function withoutMembers(cause: string, situation: Situation, awaiting: Awaiting): Refused {
  return refuse(
    'BackupNotPossible',
    `${awaiting.what} waits for a backup, and no member runs that it could be taken of: ${cause}; the volumes are kept`,
    `nothing starts a member of a cluster that is being deleted: set spec.volumeRetention.whenDeleted to Retain, which keeps its PersistentVolumeClaims, ${withoutIt(situation, awaiting)}`,
  );
}

/** A command, because a cluster that is being deleted is in no repository any more. */
function withoutIt({ cluster: { metadata } }: Situation, { what, before }: Awaiting): string {
  const spec = JSON.stringify({ spec: { backup: { [occasions[before].field]: 'Never' } } });
  const patch = kubectl(metadata, `patch ${resourceName('etcdclusters')} ${metadata.name} --type merge -p '${spec}'`);
  const words = `or let ${what} go on without it: set spec.backup.${occasions[before].field} of EtcdCluster ${metadata.name} to Never`;
  return before === 'deletion' ? `${words} (${patch})` : words;
}
