import type { FailureReason } from '../jobs/failure.ts';
import { goesOn, isWell, type Meaning, step } from '../reasons/meaning.ts';
import type { Breaking } from './situation.ts';

/** Every reason of an EtcdBackup's conditions and events, but for failures of the agent (reconcile/jobs/failure.ts). */

const again = 'nothing: it is tried again, a few times';
const names = 'do what the message says; the backup then goes on';

const own = {
  Taking: step('A Job takes the snapshot and stores it.'),
  Looking: step('A Job reads what an earlier backup stored, and compares it with its record.'),
  Found: { means: 'What an earlier backup stored is there, byte by byte as its record says.', cure: isWell },
  Verifying: step('A Job restores what was stored, starts etcd on it, and compares.'),
  Taken: { means: "The backup is stored, and etcd's checksum was right.", cure: isWell },
  Verified: {
    means: 'The backup is stored, and was restored and compared with the member that sent it.',
    cure: isWell,
  },
  Retrying: { means: 'An attempt failed in a way that may pass.', cure: again },
  ClusterAbsent: { means: 'There is no EtcdCluster of that name in the namespace.', cure: names },
  ClusterNotAvailable: {
    means: 'No quorum of the cluster serves, so there is no whole snapshot to be had.',
    cure: goesOn,
  },
  MemberVolume: {
    means: '`to.object` names the PersistentVolumeClaim of a member of an EtcdCluster: nothing else is put there.',
    cure: 'create another EtcdBackup that names another PersistentVolumeClaim',
  },
  NotOffered: {
    means: 'A Secret, service account or PersistentVolumeClaim that it names is not offered to backups by its owner.',
    cure: 'have its owner run the command of the message; the backup then goes on',
  },
  PodNotStarting: {
    means: 'The pod of the Job is refused, or has waited for three minutes and does not start.',
    cure: names,
  },
  JobRefused: { means: 'The API server refuses the Job.', cure: names },
  OldJobLeaving: step('The Job of an earlier EtcdBackup of this name is being deleted.'),
  JobNameTaken: { means: 'A Job that is not of this backup has the name.', cure: names },
} as const satisfies Record<string, Meaning>;

const broken = {
  OutOfMemory: { means: 'A container of the Job was killed for lack of memory.', cure: again },
  Evicted: { means: "The Job's pod was evicted from its node.", cure: again },
  NodeLost: { means: "The node of the Job's pod does not answer.", cure: again },
  PodGone: { means: "The Job's pod was deleted before it was done.", cure: again },
  JobGone: { means: 'The Job was deleted before its result was read.', cure: again },
  DeadlineExceeded: { means: "The Job's pod was not done within `spec.deadline`.", cure: again },
  RestoreFailed: { means: 'etcdutl does not restore what was stored.', cure: again },
  EtcdNotStarted: { means: 'etcd does not start on what was restored.', cure: again },
  AgentBroke: { means: 'The agent ended without saying why.', cure: again },
} as const satisfies Record<Breaking, Meaning>;

export type BackupReason = keyof typeof own | Breaking | FailureReason;

/** The failures of the agent are another table, with one cure: the message has it. */
export const backupMeanings: Readonly<Record<string, Meaning>> = { ...own, ...broken };
