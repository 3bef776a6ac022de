/**
 * Reasons that ask for a person and that no story of `test/e2e/support/runbooks` makes happen, with the test that does.
 * Stories come first: what is here needs another installation, or what the local cluster can't do.
 */

/** Real etcd and a real API server. */
const onRealParts: Readonly<Record<string, readonly string[]>> = {
  'e2e/out-of-memory': ['OutOfMemory', 'BirthCutShort'],
  'integration/manifests/large-namespace': ['NamespaceLeftOut'],
  'integration/manifests/silent-end': ['AskedAlone'],
  'e2e/take-back': ['PodUnscheduled'],
  'e2e/older-disk': ['AnotherDisk'],
  'e2e/rollback': ['RollbackNotApproved', 'RollbackOutdated'],
  'e2e/adopt': ['AdoptionNotApproved'],
  'e2e/halts': ['RolloutHalted'],
  'e2e/storage-class': ['StorageClassRefused'],
  'e2e/auth': ['UnlistedUsers'],
  'e2e/tls-managed': ['TlsModeRefused', 'AuthorityLost'],
  'e2e/cert-manager': ['CertManagerNotInstalled', 'NamesNotApproved'],
  'e2e/cert-manager-controllers': ['IssuanceFailed'],
  'e2e/tls-provided': [
    ...['SecretMissing', 'WildcardPeerName', 'ChainBroken', 'CertificateChainBroken', 'CertificateExpiresSoon'],
  ],
  'integration/clients/etcd-tls': [
    ...['CertificateExpired', 'CertificateNotYetValid', 'WrongAuthority', 'NameMismatch', 'ClientCertificateRefused'],
    ...['PlaintextOnTlsPort', 'TlsOnPlaintextPort', 'HandshakeFailed'],
  ],
  'integration/fleet/drift': ['FieldsNotInGit'],
  'integration/clients/kube-faults': ['NotFound', 'Invalid', 'Unauthorized', 'NoCredentials'],
};

interface Simulated {
  readonly reasons: readonly string[];
  /** Under `test/unit`. */
  readonly test: string;
  /** Why no process node, or no API server of ours, does it. */
  readonly why: string;
}

/** A world in memory, or a rule as a table. */
const simulated: readonly Simulated[] = [
  {
    reasons: ['ContainerCannotStart', 'MemberKilled', 'PodEnded'],
    test: 'cluster/endings',
    why: 'a runtime or kubelet says so: the process node has neither images nor evictions',
  },
  {
    reasons: ['OldObjectsStay'],
    test: 'cluster/rest-and-leftovers',
    why: 'as PodStays, whose story is told, of what an earlier resource left',
  },
  {
    reasons: ['UnknownLearner'],
    test: 'cluster/quorum-and-gate',
    why: 'a learner that has a peer of ours: a person makes that only by writing EtcdPeers; UnknownMember is told',
  },
  {
    reasons: ['AllMembersLost'],
    test: 'cluster/world/recover',
    why: 'as AllVolumesGone, whose two stories are told, with PVCs that are left and no use',
  },
  {
    reasons: ['SnapshotOnMember'],
    test: 'cluster/world/snapshot-on-member',
    why: 'one commit, and one that names another PVC',
  },
  {
    reasons: ['RollbackTrialFailed', 'RollbackTrialNoRoom'],
    test: 'cluster/world/roll-back-trial',
    why: 'etcdutl restores only what etcd serves: integration/backup/trial spoils the copy between the containers',
  },
  {
    reasons: ['FourEyesMissing'],
    test: 'cluster/world/four-eyes',
    why: 'a fleet that asks for signatures: integration/manifests/four-eyes has the users of a real API server',
  },
  {
    reasons: ['AuthRefused'],
    test: 'cluster/world/users',
    why: 'a patch of etcd with a hole: tests have none but the newest',
  },
  {
    reasons: ['AuthUnread'],
    test: 'cluster/world/users',
    why: 'etcd keeps root while authentication is on: only a user of an issuer that is shared can be lost',
  },
  { reasons: ['NotAllowed'], test: 'cluster/world/not-allowed', why: 'a setting of the installation' },
  { reasons: ['SnapshotHostRefused'], test: 'cluster/world/snapshot-host', why: 'a setting of the installation' },
  {
    reasons: ['SnapshotNotOffered'],
    test: 'cluster/world/snapshot-offers',
    why: 'as NotOffered of an EtcdBackup, whose story is told: one command of the message',
  },
  {
    reasons: ['RestorePodStuck', 'SnapshotRemoved'],
    test: 'cluster/restore-snapshot',
    why: 'as RestoreFailed, whose story is told, at another moment of the same Job',
  },
  {
    reasons: ['ExistingUnreachable', 'ExistingNotFit', 'InheritedMemberDown', 'AdoptionUnfinished'],
    test: 'cluster/adoption-goes-on',
    why: 'each a table of refusals before anything changes; what changes something is in e2e/adopt',
  },
  {
    reasons: ['ExistingRemoved'],
    test: 'cluster/adoption-forgotten',
    why: 'the API server refuses such a commit; a status that is older or newer than the spec lets it through',
  },
  { reasons: ['RemovalUnsafe'], test: 'cluster/set-aside', why: 'a member fails between two requests of one step' },
  { reasons: ['LearnersFail'], test: 'cluster/world/heal', why: 'it takes three joins that fail, half an hour' },
  {
    reasons: ['BackupsNotPermitted'],
    test: 'cluster/back-up-first',
    why: 'an installation without the kind EtcdBackup',
  },
  { reasons: ['BackupNotPossible'], test: 'cluster/world/final-backup', why: 'as BackupFailed, whose story is told' },
  {
    reasons: ['ImageOfAnotherVersion'],
    test: 'cluster/upgrade',
    why: 'the process node runs what the tag says, so no image lies there',
  },
  {
    reasons: ['FlagReserved', 'QuotaRefused'],
    test: 'cluster/effective',
    why: 'the API server takes no new spec that has one; a change is judged as every other is',
  },
  {
    reasons: ['PatchTooOld', 'FlagNotInVersion', 'VersionHasDefect'],
    test: 'cluster/effective-version',
    why: 'the local cluster has one patch of each minor; DowngradeRefused and MinorSkipped are the same table',
  },
  {
    reasons: ['VersionNotSupported'],
    test: 'cluster/effective-version',
    why: 'the API server refuses such a spec; an older release has one left',
  },
  {
    reasons: ['HeldBackByClaim'],
    test: 'cluster/cure-configuration',
    why: 'an upgrade, a crash and a deletion at once',
  },
  {
    reasons: ['HasCommonName'],
    test: 'certificates/judge',
    why: 'as CertificateHasCommonName, of what is handed over already',
  },
  {
    reasons: ['CertificateHasCommonName'],
    test: 'cluster/world/gateway-client',
    why: 'an issuer that names what asks for no name: that of cert-manager and the stand-in do as they are asked',
  },
  {
    reasons: ['CertificateNamesRefused'],
    test: 'cluster/world/certificate-names',
    why: 'a setting of the installation',
  },
  {
    reasons: ['SecretsUnreadable'],
    test: 'cluster/world/certificate-faults',
    why: 'the stories run with all rights: what an installation may is held by integration/rights',
  },
  {
    reasons: ['NoEtcdCredentials'],
    test: 'cluster/way-to-etcd',
    why: 'the Secret goes between two requests of one step: a step that begins without it makes it anew, or waits for it',
  },
  { reasons: ['CertManagerForbidden'], test: 'cluster/cert-manager-list', why: 'as above' },
  {
    reasons: ['RenewalFailed'],
    test: 'certificates/issuance',
    why: 'a renewal is months away; IssuanceFailed happens with the real controllers',
  },
  {
    reasons: ['CertManagerSilent'],
    test: 'cluster/world/cert-manager',
    why: 'it takes two minutes of silence',
  },
  {
    reasons: ['TemplateUnread'],
    test: 'cluster/world/other-hands',
    why: 'an admission webhook that takes no dry runs; ObjectContested is told',
  },
  {
    reasons: ['LabelsRefused'],
    test: 'cluster/world/labels',
    why: 'an admission policy that edits objects; PodUnlabelled is told',
  },
  {
    reasons: ['SnapshotDefective', 'SnapshotTooNew', 'RestoreOverData'],
    test: 'cluster/restore-snapshot',
    why: 'what the agent says of such snapshots is in integration/backup/staged',
  },
  { reasons: ['RollbackBackupNotReady'], test: 'cluster/world/roll-back-to-backup', why: 'it needs no etcd' },
  { reasons: ['Revoked', 'CertificateRevoked'], test: 'cluster/world/revocations', why: 'no etcd has to refuse' },
  { reasons: ['MinorSkipped'], test: 'cluster/world/upgrade', why: 'nothing runs that has it' },
  { reasons: ['RevisionsExhausted'], test: 'cluster/revisions', why: 'it takes thousands of rollbacks' },
  { reasons: ['RollbackHeldUp'], test: 'cluster/roll-back', why: 'a rollback that meets a recovery' },
  {
    reasons: [
      ...['UnsupportedKey', 'NotACertificateAuthority', 'ExpiresSoon', 'KeysMissing', 'Unreadable', 'KeyMismatch'],
      ...['WeakKey', 'MissingUsages', 'MissingNames', 'NotYetValid', 'Expired'],
    ],
    test: 'certificates/judge',
    why: 'a table of certificates; e2e/tls-provided has three of them',
  },
  {
    reasons: ['AuthoritiesDisagree'],
    test: 'certificates/agreement',
    why: 'a table of three Secrets',
  },
];

/** Of the same sentence of the same page as the one that is told: only the API server's word differs. */
const sameCure: Readonly<Record<string, readonly string[]>> = {
  Forbidden: [
    ...['BadRequest', 'MethodNotAllowed', 'NotAcceptable', 'UnsupportedMediaType', 'RequestEntityTooLarge'],
    'ApiServerRefused',
  ],
};

/** Of other kinds than EtcdCluster, and in no story of `test/e2e/support/runbooks/kinds.ts`. Tests are under `test`. */
const ofKinds: Readonly<Record<string, readonly Told[]>> = {
  EtcdBackup: [
    { test: 'integration/backup/s3', reasons: ['Forbidden', 'Exists'], why: 'on a real store' },
    { test: 'integration/backup/private-ca', reasons: ['NotTrusted'], why: 'on each real store' },
    { test: 'integration/backup/drill-stages', reasons: ['WrongDigest'], why: 'of an object with a flipped bit' },
    { test: 'e2e/corruption', reasons: ['Corrupt'], why: 'members differ there' },
    { test: 'integration/backup/s3', reasons: ['NoSuchBucket', 'WrongRegion'], why: 'a real store says so' },
    { test: 'integration/backup/directory', reasons: ['Full', 'StoreRefused'], why: 'a disk that is full' },
    { test: 'integration/backup/look', reasons: ['NotFound'], why: 'what was stored is deleted' },
    { test: 'integration/backup/store-contract', reasons: ['Changed'], why: 'on each real store' },
    { test: 'integration/backup/tls', reasons: ['HostRefused'], why: 'a setting of the installation' },
    { test: 'unit/backup/not-allowed', reasons: ['ImageRefused'], why: 'a setting of the installation' },
    { test: 'integration/backup/drill-stages', reasons: ['Mismatch'], why: 'with real etcd' },
    {
      test: 'integration/backup/staged',
      reasons: ['BadTrailer', 'NotRestorable', 'WrongRevision', 'NewerVersion', 'DataPresent'],
      why: 'spoiled snapshots, with real etcdutl',
    },
    { test: 'integration/backup/trial', reasons: ['NoRoomForTrial', 'TrialFailed'], why: 'with real etcd' },
    { test: 'integration/backup/new-life', reasons: ['NoRoomForCopy', 'NoData', 'NotServed'], why: 'with real etcd' },
    { test: 'integration/backup/revisions', reasons: ['RevisionTooHigh'], why: 'with real etcdutl' },
    { test: 'integration/backup/encoding', reasons: ['NoKey', 'CannotDecrypt'], why: 'with the real library' },
    { test: 'unit/backup/trailer', reasons: ['NotASnapshot'], why: 'a table of spoiled files' },
    {
      test: 'integration/manifests/backup-offers',
      reasons: ['NotOffered'],
      why: 'the owner of what is named runs the command, who is another person than the author',
    },
    { test: 'unit/backup/plain-http', reasons: ['PlainHttpRefused'], why: 'a setting of the installation' },
    { test: 'unit/backup/source', reasons: ['OnlyLearners', 'AnotherCluster'], why: 'a table of member lists' },
    { test: 'unit/backup/hostile-store', reasons: ['TooMany'], why: 'a hundred thousand names' },
    { test: 'unit/backup/decide', reasons: ['ClusterAbsent', 'JobNameTaken'], why: 'Stalled after ten minutes' },
    { test: 'unit/backup/pod-start', reasons: ['PodNotStarting'], why: 'it takes three minutes' },
  ],
  EtcdBackupSchedule: [
    {
      test: 'unit/schedule/lives',
      reasons: [
        ...['InvalidSchedule', 'StartRefused', 'BackupTooOld', 'BackupStuck', 'LastBackupFailed', 'RetentionFailed'],
      ],
      why: 'what is due comes by the minute, and what is too old by the hour',
    },
  ],
  EtcdNodePolicy: [
    { test: 'e2e/node-trouble', reasons: ['NodeNotBack'], why: 'with three nodes of its own' },
    {
      test: 'unit/nodes/way',
      reasons: [
        ...['RebootNotComing', 'MembersNotBack', 'RebootNotBegun'],
        ...['UnmanagedPod', 'ClusterStopped', 'TwoMembersThere'],
      ],
      why: 'the way of one node to its end: reboots that fail take a quarter of an hour each',
    },
    { test: 'unit/nodes/stories', reasons: ['JobRefused'], why: 'the Job is made in the middle of a reboot' },
    {
      test: 'unit/nodes/decide',
      reasons: ['InvalidWindow', 'NodeNotReady', 'ClusterWithoutQuorum', 'QuorumNeedsNode'],
      why: 'a table of what keeps a node from beginning',
    },
    {
      test: 'unit/nodes/breaking',
      reasons: ['PolicyGone', 'SentinelStays', 'LookFailed', 'AlertsUnreadable', 'KuredAtWork'],
      why: 'the other side breaks: kured, Prometheus, a host',
    },
  ],
};

interface Told {
  readonly test: string;
  readonly reasons: readonly string[];
  readonly why: string;
}

/** No test makes them happen, and why. */
const untold: Readonly<Record<string, string>> = {
  NodeTooOld: 'the agent runs in our image, whose Node has zstd, and that of a running Node can not be taken away',
};

export const toldElsewhere = { onRealParts, simulated, sameCure, ofKinds, untold } as const;
