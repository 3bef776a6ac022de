import { isWell, type Meaning, step } from './meaning.ts';
import { type Offer, offered } from './offers.ts';

/** Quorum that is awaited or lost, disks that changed, and recoveries. */

const afterAll: readonly Offer[] = [
  {
    loses: 'nothing',
    cure: 'restore the disks themselves (PVCs with their annotations, bound to the same PersistentVolumes)',
  },
  {
    loses: 'since',
    cure: 'create the cluster anew from a snapshot ([Restore a snapshot](docs/how-to/restore.md), [runbook](docs/runbooks/all-data-lost.md))',
  },
];
const nothingLeft = `no data is left to go on from, and the cluster never starts empty: ${offered(afterAll)}`;
const otherDisk = 'decide: [When a disk is another one](docs/runbooks/another-disk.md)';
const contradicts =
  'a PVC says that it is being recovered, and the cluster contradicts it, for example after a backup was restored: do what the message says about its annotation ([runbook](docs/runbooks/lost-quorum.md#while-it-recovers))';
const theRequirement =
  'to drain a node of this cluster: set `spec.replicas` to 3, or `spec.disruption.whenQuorumIsLost` to `Allow` ([runbook](docs/runbooks/member-list.md#a-drain-is-refused))';

export const recovery = {
  WaitingForQuorum: {
    means: 'Too few members answer for a quorum.',
    cure: 'nothing: members are starting. `kubectl get etcdpeers.etcd.ratchet.dev` shows the state of each. If the cluster has served before: nothing, if the named members return; else see [When quorum is lost](docs/runbooks/lost-quorum.md)',
    course: 'disrupts',
    tells: 'NoQuorum',
  },
  BirthCutShort: {
    means: 'etcd on each member was killed while it made its log, at its first start, and never goes on from that.',
    cure: 'no client was admitted yet: correct what killed it, delete the EtcdCluster with its PVCs, and create it again ([runbook](docs/runbooks/member-does-not-run.md#etcd-was-killed-at-its-first-start))',
    course: 'disrupts',
    tells: 'NoQuorum',
  },
  QuorumLost: {
    means:
      'The data of a majority are gone with their members, and a person must approve from which member the cluster goes on.',
    cure: 'decide: [When quorum is lost](docs/runbooks/lost-quorum.md)',
    course: 'disrupts',
    tells: 'NoQuorum',
  },
  ReadingLogs: step('Jobs read the logs on the disks of members that are left, to show what each has.', 'disrupts'),
  AllMembersLost: { means: 'No member has data any more.', cure: nothingLeft, course: 'disrupts', tells: 'NoQuorum' },
  AllVolumesGone: {
    means: 'The cluster had members, and none of their volumes exists.',
    cure: nothingLeft,
    course: 'disrupts',
  },
  AnotherDisk: { means: 'A sealed member has another disk than the one it was sealed on.', cure: otherDisk },
  AllDisksRestored: {
    means: 'Every member has another disk than the one it was sealed on.',
    cure: otherDisk,
    course: 'disrupts',
  },
  AcceptingDisks: step('Disks that a person has approved are recorded for their members.'),
  BarringMembers: step('A member is kept from running on another disk than the one it was sealed on.'),
  RecoveringQuorum: step('As approved, the cluster goes on with the data of one member.', 'disrupts'),
  OutvotingMembers: step('Members that a recovery leaves behind are marked; their volumes are kept.', 'disrupts'),
  FencingMembers: step('A recovery waits for proof that the pods of other members have ended.', 'disrupts'),
  MemberNotFenced: {
    means: 'There is no proof that the pod of a member has ended.',
    cure: 'restore the named node, or delete its Node object, or confirm that it is off with the command in the message ([runbook](docs/runbooks/lost-quorum.md#a-node-is-silent))',
    course: 'disrupts',
  },
  RecoveringData: step('The Job of a recovery runs.', 'disrupts'),
  ForcingNewCluster: step('The Job is created that makes a cluster of one member of what is left.', 'disrupts'),
  RepeatingRecovery: step('The Job of a recovery ended without a result, and is recreated.', 'disrupts'),
  ConcludingRecovery: step(
    'The Job of a recovery is done: its volume records that, and its member starts.',
    'disrupts',
  ),
  DeletingRecoveryJob: step('The Job of a finished recovery is deleted.'),
  RecoveryPodLeaving: step('The pod of a recovery terminates before its member starts.', 'disrupts'),
  RecoveredQuorum: step('The one member serves: the recovery is over.'),
  QuorumReturned: {
    means: 'A quorum answers again after its recovery was approved.',
    cure: 'members that were given up returned after the approval: call the recovery off, or go on with it, as the message says ([runbook](docs/runbooks/lost-quorum.md#members-came-back))',
  },
  NoRoomForCopy: {
    means: 'The volume has no room for the safety copy.',
    cure: 'enlarge the volume and delete the Job, or approve a recovery without a copy ([runbook](docs/runbooks/lost-quorum.md#there-is-no-room-for-the-copy))',
  },
  RecoveryFailed: {
    means: 'The Job of a recovery has failed.',
    cure: 'correct what the message quotes, then delete the Job: it is made anew ([runbook](docs/runbooks/lost-quorum.md#the-job-has-failed))',
  },
  RecoveryOutOfMemory: {
    means: 'The Job of a recovery was killed for lack of memory.',
    cure: 'raise `spec.resources.limits.memory`: the Job is made anew ([runbook](docs/runbooks/lost-quorum.md#the-job-does-not-run))',
  },
  RecoveryPodStuck: {
    means: 'The pod of a recovery does not start.',
    cure: 'correct what the message names, or the spec; the recovery then goes on ([runbook](docs/runbooks/lost-quorum.md#the-job-does-not-run))',
  },
  RecoveryNotPermitted: {
    means: 'etcd-ratchet may not look at Jobs.',
    cure: 'apply the roles of this release (`manifests/install`) ([runbook](docs/runbooks/lost-quorum.md#etcd-ratchet-may-not-look-at-jobs))',
  },
  RecoveryVolumeLost: {
    means: 'The volume that the cluster was to go on from is lost or being deleted.',
    cure: 'restore the disk of the recovery, or choose another one, as the message says ([runbook](docs/runbooks/lost-quorum.md#the-pvc-of-the-recovery-is-being-deleted))',
  },
  RecoveryOutdated: {
    means: 'A volume says that it is being recovered, and other members have joined since.',
    cure: contradicts,
  },
  TwoRecoveries: { means: 'Two volumes say that the cluster goes on from them.', cure: contradicts },
  RecoveredListUnexpected: {
    means: 'A recovered member should be the only one, and the member list has others.',
    cure: contradicts,
  },
  QuorumServes: {
    means: 'A quorum of the members serves (condition `Available`).',
    cure: isWell,
  },
  QuorumNeedsEveryMember: {
    means: 'No node of the cluster can be drained: the quorum needs every member (condition `Drainable`).',
    cure: theRequirement,
  },
  QuorumLossAllowed: {
    means: 'A node can be drained at the cost of the quorum (condition `Drainable`).',
    cure: 'nothing: a drain is allowed, and the cluster does not serve until the evicted pod is back',
  },
} as const satisfies Record<string, Meaning>;
