import { annotations, approvals } from '../manifests/render/names.ts';

/** What docs/reference/annotations.md says of each annotation: one without a row does not compile. */

type Key = keyof typeof annotations;

/** Set by a person, who reads what it does; or by etcd-ratchet, and read by a person what it says. */
interface Row {
  readonly by: 'you' | 'etcd-ratchet';
  readonly on: string;
  readonly says: string;
}

const person = (on: string, says: string): Row => ({ by: 'you', on, says });
const own = (on: string, says: string): Row => ({ by: 'etcd-ratchet', on, says });

const volume = 'PVC of a member';
const node = 'Node';
const reboot = '([Reboot nodes](../how-to/node-reboots.md))';

const rows: Readonly<Record<Key, Row>> = {
  priorityClasses: person(
    'Namespace',
    'PriorityClasses that clusters in it may name, separated by commas ([Resources and priority](../how-to/resources-and-priority.md#priority))',
  ),
  paused: person(
    'EtcdCluster',
    'with any value: it is observed and reported, and no step is taken ([Delete, suspend, pause](../how-to/delete-suspend-pause.md))',
  ),
  reconcile: person(
    'EtcdCluster, EtcdFleet',
    'with another value than before: a look is taken at once, and what was set aside is tried again ([Revisions](../how-to/revisions.md))',
  ),
  defragment: person(
    'EtcdCluster',
    'its value is a time: from then on each member that was not defragmented since is defragmented once. It holds for 35 days. `kubectl ratchet defrag` sets it ([Space](../how-to/space.md))',
  ),
  rotateCertificates: person(
    'EtcdCluster',
    'with another value than before: both CAs are made anew ([TLS](../how-to/tls.md))',
  ),
  recoverQuorum: person(
    'EtcdCluster',
    'to go on without the lost members ([When quorum is lost](../runbooks/lost-quorum.md))',
  ),
  takeNames: person(
    'EtcdCluster',
    'that members let in names only ([TLS](../how-to/tls.md#by-names-where-an-issuer-is-shared))',
  ),
  acceptDisks: person(
    'EtcdCluster',
    'to start members on other disks ([When a disk is another one](../runbooks/another-disk.md))',
  ),
  rollBack: person(
    'EtcdCluster',
    'to go back to the snapshot that `spec.rollback` names; with `/untried` at its end without a trial of what is restored ([Roll back](../how-to/roll-back.md))',
  ),
  adopt: person(
    'EtcdCluster',
    'that the members of the cluster that was taken over leave, or that they are gone for good ([Adopt](../how-to/adopt.md))',
  ),
  replaceMember: person(
    'EtcdCluster',
    'to give up one member that is lost, where `spec.healing.mode` is `Manual` ([Scale and heal](../how-to/scale-and-heal.md#let-a-person-decide))',
  ),
  confirmPrune: person(
    'EtcdFleet',
    'to delete several clusters that Git no longer lists ([Delete, suspend, pause](../how-to/delete-suspend-pause.md))',
  ),
  resumeRollout: person(
    'EtcdFleet',
    'that a halted rollout goes on with the commit that is its value ([Roll out in stages](../how-to/stages.md#when-a-rollout-halts))',
  ),
  prune: person(
    'a document of a fleet, and what it made',
    '`disabled`: it is never pruned; `confirm`: only after `confirm-prune` of the fleet ([Delete, suspend, pause](../how-to/delete-suspend-pause.md#protect-one-object))',
  ),
  rebootNeeded: person(
    node,
    `its value is a cause: an EtcdNodePolicy reboots it; taken away in time, that is called off ${reboot}`,
  ),
  token: own(volume, "etcd's bootstrap token. Volumes with the same one belong together"),
  initialCluster: own(volume, 'the member list as recorded for the first start of this member'),
  clusterId: own(volume, 'the ID of the etcd cluster whose data it holds'),
  memberId: own(volume, 'the ID of the member whose data it holds'),
  version: own(volume, 'the version that ran when the last change of version was over'),
  nextVersion: own(volume, 'a higher version that may have run on it'),
  rollsTo: own(volume, 'the version that a roll of all members has begun to give them'),
  minorSince: own(volume, 'from which raft index on members of one minor wrote every entry'),
  tlsMode: own(volume, "the TLS mode of the cluster's birth"),
  allowedNames: own(volume, "members let in certificates by names of the cluster's own: decided at its birth"),
  mayHaveStarted: own(volume, 'the UID of the peer for which a member may have started on it in the birth under way'),
  evidence: own(volume, 'its member left because its data differed. It is kept, whatever the policy says'),
  replacedAt: own(volume, 'when its member was given up'),
  volumeState: own(volume, 'whether a member may start on it'),
  disk: own(volume, 'the PersistentVolume, and its volumeHandle, that were behind it when it was sealed'),
  outvoted: own(volume, 'members that recoveries left behind'),
  recovery: own(volume, 'the approval and the last attempt of a recovery, or of a restore'),
  lastSeenOn: own(volume, 'the nodes where pods of the members were seen, during a recovery'),
  restoredFrom: own(volume, 'the snapshot that the cluster was born from'),
  revisionFloor: own(volume, 'where it began from a snapshot: no client has seen a lower revision of it'),
  gaveUp: own(volume, 'etcd clusters that this one took the place of when it was rolled back'),
  authoritiesOf: own(volume, "the token under which the cluster's CAs were made, if that is another one"),
  hibernationBackup: own(volume, 'the EtcdBackup that was Ready when the members were told to hibernate'),
  trial: own(volume, '`passed`: etcd served a copy of what a rollback restored; `waived`: its approval went without'),
  goesBackTo: own(volume, 'the EtcdBackup that a rollback goes back to, as it was when that began'),
  stays: own(volume, 'a removal of another member began: an older request to mark this one fails'),
  trust: own('Secret of a CA', 'which CAs members trust'),
  issuer: own(
    'Secret of a CA',
    'the issuer of cert-manager that signed it as well ([TLS](../how-to/tls.md#signed-by-your-company-too))',
  ),
  servedSince: own('Secret of a CA', 'since when every member presents a certificate of the new CA'),
  handedOverAt: own('Secret of a leaf that others signed', 'when members got it'),
  object: own('Job of a backup', 'where the backup is stored'),
  dueAt: own('EtcdBackup of a schedule', 'for which time it was made'),
  beforeUpgrade: own('EtcdBackup', 'the upgrade that waits for it'),
  beforeHibernation: own('EtcdBackup', 'the hibernation that waits for it'),
  beforeDeletion: own('EtcdBackup', 'the deletion that waits for it'),
  restoredBy: own('EtcdCluster', 'the UID of the EtcdRestore that made it'),
  inputsHash: own(
    'what etcd-ratchet builds',
    'a hash of what it was made from; that of a StatefulSet says whether its member must restart',
  ),
  givenKeys: own(
    'Service `<cluster>-external`',
    'the labels and annotations that `spec.service` gave it, so that they go with it',
  ),
  notRevoked: own(
    'ConfigMap `<cluster>-revocations`',
    'serial numbers of `spec.tls.revokedClientSerials` that the list leaves out, because their certificates are in use',
  ),
  fleetName: own('what a fleet applied', 'which fleet'),
  shownPlan: own(
    'EtcdCluster',
    'the request whose plan was shown for this spec, and its restarts and removals ([Plans](../how-to/plans.md#whether-it-was-kept))',
  ),
  source: own('what a fleet applied', 'which file in Git'),
  rebootGranted: own(node, `since when it may begin its reboot, and the ID of its grant ${reboot}`),
  rebootCordoned: own(node, 'since when it is cordoned: `by-us`, or `before`, where a person had cordoned it'),
  rebootNow: own(node, 'the order to reboot, with the UID of the Job that may'),
  rebootInProgress: own(node, 'when the order was taken, and the boot that ended'),
  rebootReturned: own(node, 'when it was back, and the boot that came after it'),
  rebootDone: own(node, 'when its last reboot was over, and the ID of its grant'),
  rebootLooked: own(node, 'what the last look for a sentinel came to'),
  rebootPutOff: own(node, 'when its reboot was put off, and the reason'),
};

/** The annotations of one side, as a table. */
export function annotationsTable(by: Row['by']): string {
  const lines = Object.entries(rows)
    .filter(([, row]) => row.by === by)
    .map(([key, { on, says }]) => {
      const name = annotations[key as Key];
      const approves = (approvals as readonly string[]).includes(name) ? 'approves ' : '';
      return `| \`${name.replace(/^.*\//, '')}\` | ${on} | ${approves}${says} |`;
    });
  return [`| annotation | on | ${by === 'you' ? 'does' : 'says'} |`, '|---|---|---|', ...lines].join('\n');
}
