import { isWell, type Meaning, step } from './meaning.ts';

/** Changes of a working cluster: members, version, configuration, volumes, space. */

const oneAtATime = 'nothing: members are added and removed one at a time';
const oneByOne =
  'nothing: one member at a time. To take an upgrade back, revert its commit before the last member has it';
const honoured = 'what the message says; the rest of the spec is applied ([runbook](docs/runbooks/spec-refused.md))';
const givesBack = 'nothing: a member frees the space that its database does not use';

export const changes = {
  PreparingMember: step('The volume and the peer of a new member are recorded.', 'disrupts'),
  MembersConnecting: {
    means: 'A member started seconds ago: etcd changes its member list only once its members are connected for 5 s.',
    cure: oneAtATime,
  },
  AddingLearner: { means: 'A member is added as a learner: it has no vote yet.', cure: oneAtATime, course: 'disrupts' },
  LearnerStarting: { means: 'A learner is starting.', cure: oneAtATime },
  LearnerCatchingUp: { means: 'A learner is catching up with the leader.', cure: oneAtATime },
  PromotingLearner: step('A learner is in sync and sealed: it becomes a voter.', 'disrupts'),
  RemovingMember: { means: 'A member is removed from the member list.', cure: oneAtATime, course: 'disrupts' },
  RetiringMember: { means: 'The objects of a removed member are deleted.', cure: oneAtATime },
  TakingBackMember: { means: 'A member that never started is removed from the member list.', cure: oneAtATime },
  RemovingUnneededLearner: { means: 'A learner is removed: the spec no longer asks for it.', cure: oneAtATime },
  RemovingFailedLearner: step('A learner that was not promoted in time is removed; another one is tried.'),
  RemovingGhost: step('A learner without a peer is removed: an outdated invocation added it.'),
  RemovingDeadMember: step('A member that is down is removed, and a new one takes its place.', 'disrupts'),
  ReplacingMember: step('The replacement for a member that is down is recorded.', 'disrupts'),
  DeletingReplacedVolume: {
    means: 'The volume of a replaced member is deleted: its retention time is over.',
    cure: oneAtATime,
  },
  RecreatingPod: step('A pod that does not become Ready is deleted once, so that it is recreated.'),
  RemovalUnsafe: {
    means: 'A removal that was begun cannot be finished without losing the quorum.',
    cure: 'bring the member back that the message names, or run its command: the removal waits until a quorum survives it ([runbook](docs/runbooks/member-list.md#a-removal-does-not-end))',
  },
  LearnersFail: {
    means: 'New members were not promoted in time; the next one is tried after a pause.',
    cure: 'correct what the message names; the next member is tried at the time that it names, and at once after a change of the spec ([runbook](docs/runbooks/member-list.md#new-members-are-not-promoted))',
  },
  BackingUp: {
    means: 'A backup is taken; the upgrade, the hibernation or the deletion goes on when it is Ready.',
    cure: 'nothing: the EtcdBackup that the message names shows how far it is',
  },
  BackupFailed: {
    means:
      'An upgrade, a hibernation or a deletion waits for a backup, which has failed, asks for a person, or takes too long.',
    cure: 'correct what the message names and delete the EtcdBackup, or set the field of `spec.backup` that the message names to `Never` ([runbook](docs/runbooks/spec-refused.md#a-backup-before-a-change))',
  },
  BackupsNotPermitted: {
    means: 'An upgrade, a hibernation or a deletion waits for a backup, and backups cannot be read.',
    cure: 'apply the roles and resource definitions of this release, or set the field of `spec.backup` that the message names to `Never` ([runbook](docs/runbooks/spec-refused.md#a-backup-before-a-change))',
  },
  BackupNotPossible: {
    means: 'A deletion waits for a last backup, and no quorum serves that it could be taken of.',
    cure: 'bring the missing members back, or set `spec.backup.beforeDeletion` to `Never`: then it goes on without ([runbook](docs/runbooks/spec-refused.md#a-backup-before-a-change))',
  },
  UpgradingMember: { means: 'A member gets the next version of etcd.', cure: oneByOne, course: 'rolls' },
  RollingBackVersion: { means: 'A member returns to the previous version.', cure: oneByOne, course: 'rolls' },
  AwaitingClusterVersion: { means: 'All members run a version, and etcd has not adopted it yet.', cure: oneByOne },
  PreparingUpgrade: { means: 'A precondition of the next minor version is not met yet.', cure: oneByOne },
  RecordingVersion: step('The version that members run is recorded on their volumes.'),
  RollingConfiguration: step('A member gets the configuration of the spec.', 'rolls'),
  FinishingRolling: step('A member with a new template is restarted on it.', 'rolls'),
  CuringConfiguration: step('A member that is not Ready gets the configuration of the spec.'),
  CorrectingTemplates: step('StatefulSet templates are corrected; their pods stay.'),
  PuttingBackTemplates: {
    means: 'Another client changed StatefulSets of members: they are written as the spec asks.',
    cure: 'nothing: the message names the client and the fields. Set version, image, flags and replicas in the spec of the EtcdCluster',
  },
  ObjectContested: {
    means:
      'Another client changes a StatefulSet, a Service, a budget or a network policy of a cluster again and again.',
    cure: 'let that client leave the objects of etcd-ratchet alone; no member is restarted on what it writes ([runbook](docs/runbooks/kubernetes-refuses.md#another-client-changes-a-statefulset))',
  },
  TemplateUnread: {
    means: 'No dry run tells whether a StatefulSet is what the spec asks for: it is refused, or gets no answer.',
    cure: 'let admission webhooks take dry runs, and grant the right to update StatefulSets; until then no member is restarted ([runbook](docs/runbooks/kubernetes-refuses.md#another-client-changes-a-statefulset))',
  },
  ImageOfAnotherVersion: {
    means: 'An image contains another version of etcd than the spec says.',
    cure: 'let `spec.version` and `spec.image` name the same version; the other members keep theirs ([runbook](docs/runbooks/spec-refused.md#a-version))',
  },
  HeldBackByClaim: {
    means: 'A version cannot be rolled back: a member with a PVC that is being deleted may start on it.',
    cure: 'set `spec.version` to the named version, and correct what keeps members from running on it ([runbook](docs/runbooks/spec-refused.md#a-version))',
  },
  DowngradeRefused: { means: 'The spec asks for a lower version than the one that wrote the data.', cure: honoured },
  MinorSkipped: { means: 'The spec asks for a minor version that is not the next one.', cure: honoured },
  PatchTooOld: { means: 'A patch release is too old to run beside the other minor version.', cure: honoured },
  VersionNotSupported: {
    means: 'The spec asks for a version that etcd-ratchet does not support.',
    cure: honoured,
  },
  QuotaRefused: {
    means: 'The spec asks for a larger database than the volume has room for beside the log.',
    cure: honoured,
  },
  VersionHasDefect: {
    means: 'This version of etcd has a defect that endangers the data. It is refused where no member has it.',
    cure: 'set `spec.version` to the patch that the message names, or a later one ([runbook](docs/runbooks/spec-refused.md#a-version))',
  },
  FieldsNotInGit: {
    means: 'The live spec has fields that no commit of its fleet set (condition `Drifted`).',
    cure: 'list them in the file that the message names, or remove them by its command ([Fleets](docs/how-to/fleets.md#what-git-does-not-list))',
  },
  FlagReserved: { means: 'The spec has a flag that etcd-ratchet decides by now.', cure: honoured },
  FlagNotInVersion: { means: 'The spec has a flag that this version of etcd does not have.', cure: honoured },
  VolumeShrinkRefused: { means: 'The spec asks for a smaller volume than the members have.', cure: honoured },
  StorageClassRefused: { means: 'The spec asks for another storage class than the volumes have.', cure: honoured },
  ClaimTemplateRefused: {
    means: 'The spec asks for another PVC template than the volumes were made from.',
    cure: honoured,
  },
  TemplateRefused: { means: 'The spec has a pod or PVC template with fields that are not allowed.', cure: honoured },
  NotAllowed: {
    means: 'The installation does not allow an image, or the type or an annotation of a Service, that the spec names.',
    cure: 'name another one, or have the admin of the installation list it ([Limit what tenants may name](docs/how-to/limit-tenants.md#images-buckets-and-services)); what the cluster has already stays as it is',
  },
  InvalidWindow: {
    means: 'A window of `spec.maintenance` says a time that never comes: changes that can wait do not begin.',
    cure: 'correct the window that the message names, or remove it ([runbook](docs/runbooks/spec-refused.md#a-template-or-a-mode))',
  },
  InvalidRequest: {
    means:
      'The annotation that asks to defragment has a value that is no time, or one far ahead: nothing is done for it.',
    cure: 'set it anew by `kubectl ratchet defrag`, or remove it ([runbook](docs/runbooks/spec-refused.md#a-template-or-a-mode))',
  },
  TlsModeRefused: {
    means: 'The spec asks for another TLS mode than the cluster was created with, or no more for the names it has.',
    cure: honoured,
  },
  NamesNotApproved: {
    means: 'Members let in every certificate of their issuer, and are to let in names only: a person must approve it.',
    cure: 'approve it with the command in the message, or remove `allowedNames` ([runbook](docs/runbooks/spec-refused.md#a-template-or-a-mode))',
  },
  FourEyesMissing: {
    means: 'An approval that is given does not count: its fleet asks for another person than the author of the commit.',
    cure: 'another person approves it, as the message says ([runbook](docs/runbooks/spec-refused.md#an-approval-by-the-author))',
  },
  KeepingUsers: step("etcd's users, roles and rights are made as the spec says."),
  EnablingAuth: step("etcd's authentication is turned on."),
  DisablingAuth: step("etcd's authentication is turned off."),
  UsersAsAsked: { means: "etcd's users, roles and rights are as the spec says (condition `AuthReady`).", cure: isWell },
  AuthDisabled: {
    means: 'etcd asks no client for its user, as `spec.auth.mode` says (condition `AuthReady`).',
    cure: 'nothing, if that is intended: every client with a certificate can read and write all keys',
  },
  UnlistedUsers: {
    means: 'etcd has users or roles that the spec does not list, and others made (condition `AuthReady`).',
    cure: 'list them in `spec.auth`, or delete them with `etcdctl` ([Users and roles](docs/how-to/users.md#other-hands))',
  },
  AuthUnread: {
    means: "etcd's users can't be read: the user of etcd-ratchet lacks the role root, or a member does not answer.",
    cure: 'give our user the role root again, by a certificate that has it ([Users and roles](docs/how-to/users.md#locked-out))',
  },
  AuthRefused: {
    means: "The spec asks for etcd's authentication where it would protect nothing, or certificates tell no user.",
    cure: honoured,
  },
  TakingNames: step('The volumes record that members let in certificates by names only.'),
  NotingDisks: step('The disk behind each volume is recorded.'),
  GrowingVolumes: step('The volumes are requested to grow to the size of the spec.'),
  AwaitingVolumeGrowth: {
    means: 'Volumes were requested to grow, and have not grown yet.',
    cure: 'nothing, unless it lasts: the storage driver is at work. If the driver cannot grow a mounted volume, delete the pod once ([runbook](docs/runbooks/spec-refused.md#a-volume-does-not-grow))',
  },
  VolumeCannotGrow: {
    means: 'A volume cannot, or may not, grow to the size of the spec.',
    cure: 'what the message says about the storage class, the quota, or the driver; or, where no volume has grown yet, revert the commit. Members are healed meanwhile ([runbook](docs/runbooks/spec-refused.md#a-volume-does-not-grow))',
  },
  NoSpace: {
    means: 'etcd is out of space and accepts no writes.',
    cure: 'nothing, while it is not Stalled: space is being freed ([how](docs/how-to/space.md)). Stalled, the data fill the quota: raise `spec.etcd.quotaBackendBytes`, or `spec.storage.size` where the quota follows the volume, or delete keys ([runbook](docs/runbooks/no-space.md))',
    course: 'disrupts',
    outage: true,
    tells: 'NoSpace',
  },
  Defragmenting: {
    means: 'A member defragments its database and answers no requests meanwhile.',
    cure: givesBack,
    course: 'disrupts',
  },
} as const satisfies Record<string, Meaning>;
