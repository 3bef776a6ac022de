import { isWell, type Meaning } from './meaning.ts';

/** Problems of one member: its pod, its volume, etcd itself. */

const comesBack =
  'nothing, while it is not Stalled: a member starts, stops or catches up. Stalled, do what the message says ([runbook](docs/runbooks/member-does-not-run.md#it-starts-stops-or-catches-up))';
const correctTheSpec =
  'correct the spec; members that do not run get the new one at once ([runbook](docs/runbooks/member-does-not-run.md#its-image-or-its-container-does-not-start))';
const whatKubeletNames =
  'nothing, while it is not Stalled (`MemberDown`: the member is replaced, where only its volume can be at fault). Stalled, correct what kubelet or the provisioner reports in the message ([runbook](docs/runbooks/member-does-not-run.md#its-volume-is-not-there))';
const mayTakeTime =
  'nothing, while it is not Stalled; then correct what the message names. A large database may need a `startupProbe` with more time in `spec.podTemplate` ([runbook](docs/runbooks/member-does-not-run.md#it-starts-stops-or-catches-up))';
const whatIsNamed =
  'correct what the message names: a probe, a node, or a container of `spec.podTemplate`. The member keeps its data ([runbook](docs/runbooks/member-does-not-run.md#etcd-exits-again-and-again))';
const bringTheNodeBack =
  'restore the named node, or delete its Node object, or confirm that it is off with the command in the message. If finalizers keep objects, remove them ([runbook](docs/runbooks/member-does-not-run.md#a-pod-or-an-object-does-not-go-away))';
const mayBeReplaced =
  'nothing, if it may be replaced; else restore it within `spec.healing.memberGracePeriod` ([runbook](docs/runbooks/member-does-not-run.md#it-may-be-replaced))';
const diskGone =
  'nothing, while a quorum of the others is healthy: the member is replaced. Else do what the message says: restore the disk itself, or save what is there ([runbook](docs/runbooks/member-does-not-run.md#its-volume-is-not-there))';
const notOurs =
  'the member list has a member that etcd-ratchet did not add: run the `etcdctl member` command that the message gives ([runbook](docs/runbooks/member-list.md#a-member-that-etcd-ratchet-did-not-add))';
const whoseData =
  "nothing, while it is not Stalled: members' data are compared, and a member that differs from most is replaced ([runbook](docs/runbooks/different-data.md#a-majority-agrees))";

export const members = {
  Healthy: { means: 'The member answers, votes or learns, and has caught up.', cure: isWell },
  NotStarted: { means: 'The member has no StatefulSet yet.', cure: comesBack },
  MemberExited: { means: 'etcd has exited and is being restarted.', cure: comesBack },
  MemberLeaving: { means: 'The member is being removed from the cluster.', cure: comesBack },
  MemberLagging: { means: 'The member lags behind the leader and catches up.', cure: comesBack },
  EndpointSilent: { means: 'The pod runs, and etcd in it does not answer.', cure: comesBack },
  NoLeader: { means: 'The member knows no leader that answers.', cure: comesBack },
  NoQuorum: {
    means: 'No quorum of the members answers.',
    cure: 'nothing, while it is not Stalled. Stalled, members run and do not hear each other: correct the network between them ([runbook](docs/runbooks/member-does-not-run.md#members-do-not-hear-each-other))',
    outage: true,
    tells: 'NoQuorum',
  },
  PodLeaving: { means: 'The pod is terminating.', cure: comesBack },
  PodOutdated: { means: 'The pod runs an older template than its StatefulSet has.', cure: comesBack },
  PodUnscheduled: {
    means: 'The scheduler finds no node for the pod.',
    cure: 'make room: uncordon the node, or free CPU and memory; `kubectl -n NAMESPACE describe pod` shows what the scheduler lacks. The member keeps its data ([runbook](docs/runbooks/member-does-not-run.md#there-is-no-room-for-its-pod))',
  },
  ImageUnavailable: { means: 'The image cannot be pulled.', cure: correctTheSpec },
  ContainerCannotStart: { means: 'The runtime cannot start the container.', cure: correctTheSpec },
  PodRefused: {
    means: 'The API server refuses to create the pod.',
    cure: 'correct what the message names: a quota, Pod Security or a webhook refuses the pod; the StatefulSet controller tries again within 17 minutes ([runbook](docs/runbooks/member-does-not-run.md#there-is-no-room-for-its-pod))',
  },
  VolumeNotAttached: { means: 'The volume is not attached to the node.', cure: whatKubeletNames },
  VolumeNotMounted: { means: 'kubelet cannot mount a volume that the pod needs.', cure: whatKubeletNames },
  VolumeNotProvisioned: { means: 'No PersistentVolume is provisioned for the PVC.', cure: whatKubeletNames },
  PodSandboxFailed: { means: 'kubelet cannot set up the pod: its network or its runtime.', cure: whatKubeletNames },
  MemberStarting: { means: 'etcd has started and is not Ready yet.', cure: mayTakeTime },
  PodMissing: { means: 'The StatefulSet has no pod yet.', cure: mayTakeTime },
  PodInitializing: { means: 'The init containers have not finished.', cure: mayTakeTime },
  MemberKeepsExiting: {
    means: 'etcd exits again and again.',
    cure: 'see its last log lines in the message; `kubectl -n NAMESPACE logs … --previous` has the rest ([runbook](docs/runbooks/member-does-not-run.md#etcd-exits-again-and-again))',
  },
  OutOfMemory: {
    means: 'etcd needs more memory than its limit allows.',
    cure: 'raise `spec.resources.limits.memory`: the message names the limit in force. The member keeps its data, and is never replaced for it ([runbook](docs/runbooks/member-does-not-run.md#etcd-exits-again-and-again))',
  },
  MemberKilled: { means: 'etcd is killed again and again.', cure: whatIsNamed },
  OtherContainerFails: { means: 'A container beside etcd does not run.', cure: whatIsNamed },
  PodEnded: { means: 'The whole pod has ended, for example after an eviction by kubelet.', cure: whatIsNamed },
  OldObjectsLeaving: {
    means: 'Objects of an earlier resource of that name still exist.',
    cure: 'nothing: objects of a deleted resource are being garbage collected. Only the member that needs their names waits ([runbook](docs/runbooks/member-does-not-run.md#a-pod-or-an-object-does-not-go-away))',
  },
  PodStays: { means: 'A pod should have terminated and has not.', cure: bringTheNodeBack },
  OldObjectsStay: { means: 'Objects of an earlier resource should be gone and are not.', cure: bringTheNodeBack },
  MemberDown: { means: 'A member is down for a cause that only a replacement cures.', cure: mayBeReplaced },
  HealingHeld: {
    means: 'A member is lost, and `spec.healing.mode: Manual` asks a person before it is given up.',
    cure: 'bring the member back; or approve with the command in the message that it is given up, or set `spec.healing.mode: Automatic` ([runbook](docs/runbooks/member-does-not-run.md#a-person-decides-whether-it-is-replaced))',
  },
  MemberRemoved: {
    means: 'A member is no longer on the member list, and etcd-ratchet did not remove it.',
    cure: mayBeReplaced,
  },
  NotAMember: { means: 'etcd runs, and is not on the member list.', cure: mayBeReplaced },
  VolumeMissing: { means: "The member's PersistentVolumeClaim is gone.", cure: diskGone },
  VolumeLost: { means: 'The PersistentVolumeClaim has lost its PersistentVolume.', cure: diskGone },
  VolumeLeaving: { means: 'The PersistentVolumeClaim is being deleted, and disappears with its pod.', cure: diskGone },
  UnknownMember: { means: 'The member list has a member without an EtcdPeer.', cure: notOurs },
  UnknownLearner: { means: 'The member list has a learner that etcd-ratchet did not add.', cure: notOurs },
  Corrupt: {
    means: "etcd has raised the alarm CORRUPT, and the members' data are compared.",
    cure: whoseData,
    course: 'disrupts',
    outage: true,
  },
  MemberCorrupt: { means: "The member's data differ from those of the majority.", cure: whoseData },
  RemovingCorruptMember: {
    means: 'A member whose data differ from those of the majority is removed.',
    cure: whoseData,
    course: 'disrupts',
  },
  DataDiffer: {
    means: 'The data of members differ, and no majority decides which are right.',
    cure: 'find out which data are right, and remove the other members with etcdctl: they are replaced, and their volumes kept. An outvoted member with a higher revision may be the only one that has writes which clients rely on: save those first ([runbook](docs/runbooks/different-data.md#no-majority-or-the-outvoted-member-is-ahead))',
  },
} as const satisfies Record<string, Meaning>;
