import { attempts, ofTheApiServer } from './attempts.ts';
import { ofSecrets } from './certificates.ts';
import type { Reason } from './reasons.ts';
import { lasting } from './waits.ts';

/**
 * How a refusal ends. `itself`: as pods, nodes, volumes or members change, so a look before the next tick is worth it;
 * a person may still be needed in the end. `retried`: the failed action is repeated after a minute or more, in time for
 * ticks. `person`: only if a person changes spec, records, rights or a backup.
 */
export type Ending = 'itself' | 'retried' | 'person';

/** Every reason that a refusal can have. One that is not here cannot be refused for: that does not compile. */
export const refusals = {
  // A wait that has outlasted its grace.
  ...each(lasting, 'itself'),
  ...each(attempts, 'retried'),
  ...each(ofTheApiServer, 'retried'),
  // Others provide them, and may be late: an operator that writes Secrets is no person.
  ...each(ofSecrets, 'itself'),
  SecretsUnreadable: 'person',
  AuthorityLost: 'person',
  CertificateNamesRefused: 'person',
  CertManagerNotInstalled: 'itself',
  CertManagerForbidden: 'person',
  IssuanceFailed: 'itself',
  RenewalFailed: 'itself',
  CertManagerSilent: 'itself',

  RolloutHalted: 'person',

  PodRefused: 'itself',
  PodStays: 'itself',
  OldObjectsStay: 'itself',
  ImageUnavailable: 'itself',
  ContainerCannotStart: 'itself',
  MemberKeepsExiting: 'itself',
  MemberKilled: 'itself',
  OutOfMemory: 'itself',
  VolumeMissing: 'itself',
  VolumeLost: 'itself',
  VolumeLeaving: 'itself',
  VolumeCannotGrow: 'itself',
  HealingHeld: 'itself',
  MemberCorrupt: 'itself',
  NotAMember: 'itself',
  UnknownMember: 'itself',
  UnknownLearner: 'itself',
  LearnersFail: 'retried',
  DataDiffer: 'itself',

  BirthCutShort: 'person',
  QuorumLost: 'itself',
  AllMembersLost: 'itself',
  AllVolumesGone: 'itself',
  AnotherDisk: 'itself',
  AllDisksRestored: 'itself',
  MemberNotFenced: 'itself',
  QuorumReturned: 'itself',
  NoRoomForCopy: 'person',
  RecoveryFailed: 'person',
  RecoveryOutOfMemory: 'person',
  RecoveryPodStuck: 'itself',
  RecoveryNotPermitted: 'person',
  RecoveryVolumeLost: 'itself',
  RecoveryOutdated: 'person',
  TwoRecoveries: 'person',
  RecoveredListUnexpected: 'itself',
  RestoreFailed: 'person',
  RestorePodStuck: 'itself',
  SnapshotDefective: 'person',
  SnapshotTooNew: 'person',
  SnapshotRemoved: 'person',
  RestoreOverData: 'person',
  SnapshotOnMember: 'person',
  SnapshotHostRefused: 'person',
  SnapshotNotOffered: 'person',
  RevisionsExhausted: 'person',
  RollbackNotApproved: 'person',
  NamesNotApproved: 'person',
  FourEyesMissing: 'person',
  RollbackOutdated: 'person',
  RollbackTrialFailed: 'person',
  RollbackTrialNoRoom: 'person',
  RollbackHeldUp: 'itself',
  RollbackBackupNotReady: 'itself',

  ExistingUnreachable: 'itself',
  ExistingNotFit: 'itself',
  AdoptionNotApproved: 'person',
  InheritedMemberDown: 'itself',
  ExistingRemoved: 'person',

  BackupFailed: 'person',
  BackupsNotPermitted: 'person',
  BackupNotPossible: 'itself',
  ImageOfAnotherVersion: 'person',
  HeldBackByClaim: 'itself',
  DowngradeRefused: 'person',
  MinorSkipped: 'person',
  PatchTooOld: 'person',
  VersionNotSupported: 'person',
  VersionHasDefect: 'person',
  QuotaRefused: 'person',
  FlagNotInVersion: 'person',
  FlagReserved: 'person',
  VolumeShrinkRefused: 'person',
  StorageClassRefused: 'person',
  ClaimTemplateRefused: 'person',
  TemplateRefused: 'person',
  NotAllowed: 'person',
  TlsModeRefused: 'person',
  AuthRefused: 'person',
  AuthUnread: 'itself',
  InvalidWindow: 'person',
  InvalidRequest: 'person',
  NothingToHibernate: 'person',
  NameTaken: 'person',
  LabelsRefused: 'person',
  ObjectContested: 'retried',
  TemplateUnread: 'person',
  PodUnlabelled: 'person',
  SealBroken: 'person',
  VolumeRecordUnreadable: 'person',
  ClusterIDMismatch: 'person',
  VolumesOfTwoClusters: 'person',
} as const satisfies Partial<Record<Reason, Ending>>;

export type RefusalReason = keyof typeof refusals;

/** Of an action that failed, as status remembers it; another release may have written any word. */
export function refusalIn(word: string): RefusalReason {
  return Object.hasOwn(refusals, word) ? (word as RefusalReason) : 'OfAnotherRelease';
}

function each<K extends string, E extends Ending>(rows: Readonly<Record<K, unknown>>, ending: E): Record<K, E> {
  return Object.fromEntries(Object.keys(rows).map((word) => [word, ending])) as Record<K, E>;
}
