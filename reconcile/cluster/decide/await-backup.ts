import { parseDuration } from '../../../manifests/api/duration.ts';
import { backupDefaults } from '../../../manifests/api/spec-defaults.ts';
import { backupPolicy, type Occasion, occasions } from '../../../manifests/render/backup-before.ts';
import { kubectl, resourceName } from '../../../manifests/render/kubectl.ts';
import { act, type Decision, type Refused, refuse, wait } from '../know/decision.ts';
import type { AwaitedBackupView } from '../know/observation.ts';
import { toldIn } from '../know/outcome.ts';
import { entryFor } from '../know/set-aside.ts';
import type { Situation } from '../know/situation.ts';

/** @param what in words: `the upgrade to 3.7.3` */
interface Awaiting {
  readonly before: Occasion;
  readonly what: string;
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
      return ask(view.name, isRequired, situation, awaiting);
    case 'known':
      return isRequired ? required(view, situation, awaiting) : bestEffort(view, situation, awaiting);
  }
}

function ask(name: string, isRequired: boolean, situation: Situation, awaiting: Awaiting): Decision | undefined {
  const action = { kind: 'back-up', name, before: awaiting.before } as const;
  const entry = entryFor(action, situation.refused);
  if (entry && !isRequired) return undefined;
  // What may pass is tried again: nothing else could be done meanwhile.
  if (!entry || entry.repeated)
    return act(action, 'BackingUp', `backing up before ${awaiting.what}: EtcdBackup ${name}`);
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
    case 'under-way':
      if (membership.kind === 'known' || at.getTime() - askedAt.getTime() < quorumSeconds * 1000)
        return awaited(view, awaiting);
      return withoutQuorum(membership.cause, situation, awaiting);
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
      const again = kubectl(cluster.metadata, `delete etcdbackup ${name}`);
      const cure = `correct that, then ${again}: it is made anew`;
      return failed(`EtcdBackup ${name} ${what}: ${message}`, cure, situation, awaiting);
    }
  }
}

function bestEffort(view: Known, { cluster, at }: Situation, awaiting: Awaiting): Decision | undefined {
  const bound = deadlines * parseDuration(cluster.spec.backup?.deadline ?? backupDefaults.deadline);
  const isLate = at.getTime() - view.askedAt.getTime() >= bound;
  return view.state === 'under-way' && !isLate ? awaited(view, awaiting) : undefined;
}

/** One to take it, and one to restore and compare it. */
const deadlines = 2;
/** Members that restart, or elect a leader, answer by then. */
const quorumSeconds = 60;

/** Its Job tells its end to the steps of backups. */
function awaited({ name, message }: Known, { what }: Awaiting): Decision {
  return wait('BackingUp', `${what} waits until EtcdBackup ${name} is Ready: ${message}`, {
    on: 'time',
    afterSeconds: 3,
  });
}

function failed(message: string, cure: string, situation: Situation, awaiting: Awaiting): Refused {
  const waits = `${awaiting.what} waits for a backup, and ${message}`;
  return refuse('BackupFailed', waits, `${cure}; ${withoutIt(situation, awaiting)}`);
}

/** @param cause why there is no member that a snapshot could be taken of */
export function withoutQuorum(cause: string, situation: Situation, awaiting: Awaiting): Refused {
  return refuse(
    'BackupNotPossible',
    `${awaiting.what} waits for a backup, and no quorum serves that it could be taken of: ${cause}; the volumes are kept`,
    `bring the members back that are missing: it then goes on; ${withoutIt(situation, awaiting)}`,
  );
}

/** A command, because a cluster that is being deleted is in no repository any more. */
function withoutIt({ cluster: { metadata } }: Situation, { what, before }: Awaiting): string {
  const spec = JSON.stringify({ spec: { backup: { [occasions[before].field]: 'Never' } } });
  const patch = kubectl(metadata, `patch ${resourceName('etcdclusters')} ${metadata.name} --type merge -p '${spec}'`);
  const words = `or let ${what} go on without it: set spec.backup.${occasions[before].field} of EtcdCluster ${metadata.name} to Never`;
  return before === 'deletion' ? `${words} (${patch})` : words;
}
