import { type Meaning, step } from './meaning.ts';

/** Clusters that are born from a snapshot. */

const asTheMessageSays =
  'do what the message says: the restore then goes on ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-born-from-a-snapshot))';

export const restore = {
  RestoringSnapshot: step('The Job is created that restores a snapshot to the first member.', 'disrupts'),
  AwaitingRestore: step('The Job of a restore runs, or is tried again soon.', 'disrupts'),
  RepeatingRestore: step('The Job of a restore ended without a result, or is outdated, and is recreated.', 'disrupts'),
  ConcludingRestore: step('The Job of a restore is done: its volume records that, and its member starts.', 'disrupts'),
  RestoredSnapshot: step('The restored member serves; the others join it.', 'disrupts'),
  RestoreFailed: {
    means: 'The snapshot cannot be fetched or put into place, and a repetition does not help.',
    cure: asTheMessageSays,
    course: 'disrupts',
  },
  SnapshotDefective: {
    means: 'The object is no sound snapshot of etcd: cut off, changed, or encrypted for another key.',
    cure: 'name another snapshot in `spec.bootstrap.snapshot` ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-born-from-a-snapshot))',
    course: 'disrupts',
  },
  SnapshotTooNew: {
    means: 'The snapshot is of a newer minor of etcd than `spec.version`.',
    cure: 'set `spec.version` to the version that the message names, or name an older snapshot ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-born-from-a-snapshot))',
    course: 'disrupts',
  },
  SnapshotOnMember: {
    means:
      'The snapshot is named on the PersistentVolumeClaim of a member of an EtcdCluster, which only that member mounts.',
    cure: 'copy the file to another PersistentVolumeClaim or into a bucket, and name that ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-born-from-a-snapshot))',
    course: 'disrupts',
  },
  SnapshotHostRefused: {
    means: 'The snapshot is in a store at a host that the installation does not let a restore ask.',
    cure: 'name a store at another host, or have the admin of the installation list it ([Limit what tenants may name](docs/how-to/limit-tenants.md#hosts))',
    course: 'disrupts',
  },
  SnapshotNotOffered: {
    means: 'A Secret, service account or PersistentVolumeClaim of the snapshot is not offered to restores.',
    cure: 'have its owner run the command of the message ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-born-from-a-snapshot))',
    course: 'disrupts',
  },
  RestorePodStuck: { means: 'The pod of a restore does not start.', cure: asTheMessageSays, course: 'disrupts' },
  SnapshotRemoved: {
    means: 'A restore is under way, and the spec names no snapshot any more.',
    cure: 'name it again in `spec.bootstrap.snapshot`, or delete the cluster with its volumes ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-born-from-a-snapshot))',
    course: 'disrupts',
  },
  RestoreOverData: {
    means: 'The spec asks for a restore, and volumes of this name hold other data.',
    cure: 'to go on with those data, remove `spec.bootstrap.snapshot`; else restore under another name: nothing is restored over data ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-born-from-a-snapshot))',
  },
  RollingBack: step('As approved, the cluster goes back to a snapshot: it is restored to the volume of a new member.'),
  CallingOffRollback: step(
    'What a rollback prepared goes: it is not approved any more, or its volume is lost. The cluster is as it was.',
  ),
  GivingUpMembers: step('A rollback has its data: the members of the cluster that is given up are marked.', 'disrupts'),
  DroppingPeers: step('The members of a cluster that was given up have ended; their volumes are kept.', 'disrupts'),
  RevisionsExhausted: {
    means:
      'A store restored from the snapshot would begin too near to 2^53, up to which clients read revisions exactly.',
    cure: 'create another EtcdCluster for new clients, and copy the keys into it ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-rolled-back))',
  },
  RollbackNotApproved: {
    means: 'The spec asks to give up the cluster for a snapshot, and a person must approve exactly that.',
    cure: 'approve it with the command in the message, or remove `spec.rollback` ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-rolled-back))',
  },
  RollbackTrialFailed: {
    means: 'An etcd as the members will be does not serve a copy of what a rollback restored. Nothing was given up.',
    cure: 'do what the message says ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-rolled-back))',
  },
  RollbackTrialNoRoom: {
    means: 'The volume that a rollback restores to has no room for the copy that an etcd is to serve first.',
    cure: 'raise `spec.storage.size`, or approve the rollback without that trial ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-rolled-back))',
  },
  RollbackOutdated: {
    means: 'The spec asks to give up an etcd cluster that this one is not.',
    cure: 'remove `spec.rollback`, or correct its `clusterID` ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-rolled-back))',
  },
  RollbackBackupNotReady: {
    means: 'The EtcdBackup that a rollback goes back to is not there, or not Ready.',
    cure: 'do what the message says; once it is Ready, the rollback asks for its approval ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-rolled-back))',
  },
  RollbackHeldUp: {
    means: 'A rollback does not begin beside a recovery, or while the spec asks for no members.',
    cure: 'do what the message says; the rollback then begins ([runbook](docs/runbooks/backup-fails.md#a-cluster-that-is-rolled-back))',
  },
} as const satisfies Record<string, Meaning>;
