import { isWell, type Meaning, step } from './meaning.ts';

/** Birth, rest, deletion, and what happens beside them. */

const sayWhatIsThere =
  'restore the annotations of the PersistentVolumeClaim that the message names: they say whose data it holds ([runbook](docs/runbooks/records.md#a-record-cant-be-read-or-a-seal-is-broken))';
const twoClusters = 'stop, and find out which data is yours ([runbook](docs/runbooks/records.md#two-clusters))';
const leftAlone =
  'an object of another owner has a name that is needed. It is left alone: delete it, if nothing needs it. Existing members are looked after all the same ([runbook](docs/runbooks/kubernetes-refuses.md#a-name-is-taken))';

export const life = {
  Converged: { means: 'Every member is as the spec asks.', cure: isWell, course: 'rests' },
  Hibernating: {
    means: 'The members stop, or have stopped, because the spec asks for none.',
    cure: 'nothing: `replicas: 0` stops all members and keeps their volumes',
    course: 'rests',
    isAsked: true,
  },
  Suspended: {
    means: 'The spec suspends all steps (`spec.suspend`).',
    cure: 'nothing: set `spec.suspend` to false to resume',
    course: 'stopped',
    isAsked: true,
  },
  Paused: {
    means: 'The annotation `etcd.ratchet.dev/paused` suspends all steps.',
    cure: 'nothing: remove the annotation `etcd.ratchet.dev/paused` to resume',
    course: 'stopped',
    isAsked: true,
  },
  BeingDeleted: step('The resource is being deleted, with the objects that it owns.'),
  AnotherInvocationActs: step('Another invocation is carrying out a step.'),
  WaitingForRoom: {
    means: 'As many clusters of the fleet as allowed are being changed, are not healthy, or are not measured yet.',
    cure: 'nothing, unless a cluster that the message names needs you: see its status, or raise `maxClustersInProgress` of the fleet or its stage ([how](docs/how-to/delete-suspend-pause.md#how-many-change-at-once))',
  },
  WaitingForStage: {
    means: 'The fleet rolls out in stages (`spec.rollout`), and one that comes before is not over.',
    cure: 'nothing, unless a cluster that the message names needs you: see its status; to go back, revert the commit; to go on all the same, change the stages ([how](docs/how-to/stages.md#when-a-stage-does-not-end))',
  },
  RolloutHalted: {
    means:
      'A cluster counts more than `spec.rollout.haltAbove` allows, or a status of `spec.rollout.haltOnStatuses` has failed.',
    cure: 'see what the cluster that the message names suffers from, or why that status failed; to go back, revert the commit; to go on all the same, approve it ([how](docs/how-to/stages.md#when-a-rollout-halts))',
  },
  PlanOutgrown: {
    means: 'The change takes more restarts or removals than its request showed, and is told before it begins.',
    cure: 'nothing, if it may cost that; else revert the commit, or set `spec.suspend`, within the minute ([how](docs/how-to/plans.md#whether-it-was-kept))',
  },
  Soaking: {
    means: 'All members but one run the next minor, and one keeps its own for `spec.update.soak`.',
    cure: 'nothing: it goes on by itself. To go on now, remove `spec.update.soak`; to go back, revert the commit that changed the version ([how](docs/how-to/upgrade.md#let-it-soak))',
  },
  OutsideWindows: {
    means: 'A change that applications may notice waits for a window of `spec.maintenance`. Healing does not wait.',
    cure: 'nothing: it begins when the window opens; to begin now, change `spec.maintenance.windows` ([how](docs/how-to/upgrade.md#in-a-maintenance-window))',
  },
  PreparingMembers: step('The volumes, peers and settings of a new cluster are recorded before any member starts.'),
  ReplacingUnboundVolume: step('A volume that was never bound is recreated as the spec asks.'),
  OldVolumeLeaving: step('A volume is being deleted, and its name is needed again.'),
  DiscardingStrayVolumes: step('Volumes of an abandoned creation are deleted: none was ever bound.'),
  AdoptingVolumes: step('Peers are made for retained volumes.'),
  UpdatingPeers: step('Members get the configuration of the spec before their first start.'),
  StartingMembers: step('StatefulSets are made for members that have everything else.'),
  MembersStarting: step('A recorded member has not started yet.'),
  SealingMembers: step('A member has started; from now on it cannot start on an empty volume.'),
  ApplyingServices: step('Services and the disruption budget are made or corrected.'),
  FollowingVolumes: step('ConfigMaps are made to match their volumes.'),
  SettingFinalizer: step('The finalizer is set or removed, as the retention policy needs it.'),
  WakingMembers: step('Members that hibernated start again.'),
  NothingToHibernate: {
    means: 'The spec asks for no members, and there is no data yet.',
    cure: 'set `spec.replicas` to 3: a cluster is not created with 0 members ([runbook](docs/runbooks/spec-refused.md#a-template-or-a-mode))',
  },
  StoppingMembers: step('Members are stopped: for a deletion, or for a recovery from one member.', 'disrupts'),
  MembersStopping: step('The members of a cluster that is being deleted are stopping.', 'disrupts'),
  DeletingVolumes: step('The volumes are deleted, because `spec.volumeRetention` says so.', 'disrupts'),
  VolumesLeaving: step('The volumes of a cluster that is being deleted are terminating.', 'disrupts'),
  DeletingAuthorities: step('The CAs of a deleted cluster are deleted with its volumes.'),
  LettingGo: step('Everything that had to be deleted is gone, and the finalizer is removed.'),
  Deleted: step('The resource and everything to be deleted with it are gone (in a plan).'),
  VolumeRecordUnreadable: {
    means: 'The annotations of a PersistentVolumeClaim cannot be read.',
    cure: sayWhatIsThere,
  },
  SealBroken: {
    means: 'A ConfigMap contradicts its sealed volume, and cannot be corrected.',
    cure: sayWhatIsThere,
  },
  ClusterIDMismatch: { means: 'Another etcd cluster answers than the one of the volumes.', cure: twoClusters },
  VolumesOfTwoClusters: { means: 'The volumes belong to more than one etcd cluster.', cure: twoClusters },
  NameTaken: { means: 'An object that etcd-ratchet does not own has a name that is needed.', cure: leftAlone },
  RestoringLabels: {
    means: 'Labels of an object of the cluster are missing, and are restored.',
    cure: 'nothing: another tool removed labels of an object of the cluster, and they are restored. No member is replaced for it',
  },
  LabelsRefused: {
    means: 'The API server accepts the labels, and they disappear at once.',
    cure: "exempt the cluster's objects from the admission policy that removes their labels ([runbook](docs/runbooks/kubernetes-refuses.md#labels-disappear))",
  },
  PodUnlabelled: {
    means: 'A pod lacks the labels by which Services and the disruption budget select it.',
    cure: 'run the command in the message: it restores the labels of the pod ([runbook](docs/runbooks/kubernetes-refuses.md#labels-disappear))',
  },
} as const satisfies Record<string, Meaning>;
